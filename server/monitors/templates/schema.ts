import Type from 'typebox'
import { Choice, Closed, Name, Nullable } from '../../platform/http/schemas.ts'
import { AnyDefinition } from '../definition.ts'
import { type Group, groups } from './template.ts'

const groupKeys = Object.keys(groups) as Group[]
const languages = ['any', 'en'] as const
const templateKinds = ['rule', 'judge'] as const
const variants = ['default', 'any_language'] as const

const Example = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  additionalProperties: true,
  description: 'A conversation as in `POST /v1/conversations`, without its agent.',
  examples: [{ transcript: [{ role: 'customer', text: 'I want to speak to a person.' }] }],
})

const Key = Type.String({ pattern: '^[a-z0-9-]{1,60}$', examples: ['asks-for-a-person'] })

export const MonitorTemplate = Closed(
  {
    key: Key,
    group: Choice(groupKeys),
    groupName: Type.String({ examples: ['Escalation'] }),
    name: Name,
    description: Type.String({ description: 'When a conversation is affected.' }),
    language: Choice(languages, { description: '`en` if the rule looks for English words.' }),
    kind: Choice(templateKinds),
    definition: AnyDefinition,
    anyLanguage: Nullable({
      ...AnyDefinition,
      description:
        'The definition of a judge that asks the same question in any language, if the rule only works in English.',
    }),
    examples: Closed({ affected: Example, notAffected: Example }),
  },
  { title: 'MonitorTemplate' },
)

export const TemplateQuery = Closed({
  group: Type.Optional(Choice(groupKeys)),
  kind: Type.Optional(Choice(templateKinds)),
  language: Type.Optional(
    Choice(languages, { description: '`any` lists only templates that don’t depend on a language.' }),
  ),
})

export const TemplateParams = Closed({ key: Key })

export const TemplateInstall = Closed(
  {
    variant: Type.Optional(
      Choice(variants, {
        description:
          '`any_language` creates a judge instead of a rule with English words. Default: `default`, the template itself.',
      }),
    ),
    name: Type.Optional({ ...Name, description: 'Default: the template’s name.' }),
    enabled: Type.Optional(Type.Boolean({ description: 'Default: true.' })),
  },
  { examples: [{ name: 'Asks for a person' }] },
)
