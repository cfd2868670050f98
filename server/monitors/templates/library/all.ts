import type { Template } from '../template.ts'
import { chat } from './chat.ts'
import { compliance } from './compliance.ts'
import { escalation } from './escalation.ts'
import { facts } from './facts.ts'
import { healthcare } from './healthcare.ts'
import { safety } from './safety.ts'
import { sales } from './sales.ts'
import { task } from './task.ts'
import { timing } from './timing.ts'
import { tone } from './tone.ts'
import { tools } from './tools.ts'
import { voicemail } from './voicemail.ts'

/** The templates in the order in which the library shows them. */
export const templates: Template[] = [
  ...task,
  ...escalation,
  ...compliance,
  ...facts,
  ...timing,
  ...tone,
  ...voicemail,
  ...tools,
  ...safety,
  ...sales,
  ...healthcare,
  ...chat,
]
