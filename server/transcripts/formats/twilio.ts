import { isObject } from '../../platform/is-object.ts'
import type { Reader, TurnDraft } from '../draft.ts'
import { at, entriesOf, idOf, type JsonObject, listAt, secondsToMs, someEntry, textOf } from '../json.ts'
import { roleOf } from '../roles.ts'
import type { TurnRole } from '../turn.ts'

/**
 * Reads the sentences in a Twilio Conversational Intelligence transcript, and the transcript itself, which lists the
 * participants on each channel.
 */

const rolesByChannel = (content: unknown): Map<string, TurnRole> => {
  const participants = at(content, 'transcript', 'channel', 'participants') ?? at(content, 'channel', 'participants')
  const roles = new Map<string, TurnRole>()
  for (const { channel_participant, role } of Array.isArray(participants) ? participants.filter(isObject) : []) {
    const channel = idOf(channel_participant)
    if (channel !== null && typeof role === 'string') roles.set(channel, roleOf(role))
  }
  return roles
}

const timesOf = (entry: JsonObject) => ({
  startMs: secondsToMs(entry.start_time),
  endMs: secondsToMs(entry.end_time),
})

function* read(sentences: unknown[], roles: Map<string, TurnRole>): Generator<TurnDraft> {
  for (const sentence of entriesOf(sentences, 'sentence')) {
    const words = [...entriesOf(Array.isArray(sentence.words) ? sentence.words : [], 'word')]
    yield {
      // Without participants, the channel is known, but not its speaker.
      role: roles.get(idOf(sentence.media_channel) ?? '') ?? 'other',
      kind: 'message',
      text: textOf(sentence.transcript),
      ...timesOf(sentence),
      words: words.map((word) => ({ text: textOf(word.word) ?? '', ...timesOf(word) })),
    }
  }
}

export const readTwilio: Reader = (content) => {
  const sentences = listAt(content, 'sentences')
  const isTwilio = (entry: JsonObject) => 'media_channel' in entry
  return sentences && someEntry(sentences, isTwilio) ? read(sentences, rolesByChannel(content)) : undefined
}
