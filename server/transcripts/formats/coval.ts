import type { Reader, TurnDraft } from '../draft.ts'
import { type JsonObject, listAt, secondsToMs, someEntry } from '../json.ts'
import { spokenEntries } from '../roles.ts'
import { draftsOfMessage } from './openai.ts'

/** Reads Coval's transcripts: OpenAI chat messages with `start_time` and `end_time` in seconds. */

function* read(messages: unknown[]): Generator<TurnDraft> {
  for (const spoken of spokenEntries(messages)) {
    const { start_time, end_time } = spoken.entry
    for (const draft of draftsOfMessage(spoken)) {
      yield { ...draft, startMs: secondsToMs(start_time), endMs: secondsToMs(end_time) }
    }
  }
}

const isTimed = (entry: JsonObject) => 'content' in entry && ('start_time' in entry || 'end_time' in entry)

export const readCoval: Reader = (content) => {
  const messages = listAt(content, 'transcript', 'messages')
  return messages && someEntry(messages, isTimed) ? read(messages) : undefined
}
