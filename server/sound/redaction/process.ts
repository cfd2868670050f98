// Redacts one recording in its own process.

import { once } from 'node:events'
import { recordingFd, replyWith } from '../reply.ts'
import { type RedactionOrder, writeRedacted } from './write-redacted.ts'

/** The file descriptor of the file to write. */
const redactedFd = recordingFd + 1

const ordered = once(process, 'message')

replyWith(async (options) => {
  const [order] = await ordered
  // `redact-file.ts` sends it.
  return writeRedacted({ from: recordingFd, to: redactedFd }, order as RedactionOrder, options)
})
