import { isDeepStrictEqual } from 'node:util'
import { ApiError } from '../../platform/errors.ts'
import type { Signals } from '../../transcripts/signals/signals.ts'
import type { Incoming } from './incoming.ts'
import type { GivenTranscript, ReadTranscript } from './transcript.ts'

/**
 * Merges the parts of a conversation into one row. Parts can arrive more than once, late, and in any order. The row is
 * the same as long as they don't contradict each other.
 */

/** A transcript that is already stored, or that was just read and will be stored. */
export type TranscriptState = Omit<ReadTranscript, 'content' | 'text' | 'measured'> & {
  /** The provider and model that created it from the recording. Null if the transcript was sent. */
  transcribedBy: string | null
  /** Only set until the transcript is stored. */
  fresh?: ReadTranscript
}

type ReportedFields = Pick<
  Incoming,
  'externalId' | 'companyId' | 'channel' | 'direction' | 'startedAt' | 'endedAt' | 'durationSeconds' | 'endReason'
> &
  Pick<Incoming, 'customerId' | 'metadata'> & { agentId: string; agentVersionId: string | null }

export type ConversationState = ReportedFields & {
  id: string
  status: 'in_progress' | 'completed' | 'failed'
  transcript: TranscriptState | null
  /** Null until they are computed. */
  signals: Signals | null
}

/** An incoming conversation with resolved references. */
export type ConversationPart = ReportedFields & {
  status: Incoming['status']
  /** The agent's company, for conversations that don't specify one. */
  agentCompanyId: string | null
  transcript: GivenTranscript | null
}

/** Returns the duration in seconds, or null if it exceeds the maximum, because the end time must then be wrong. */
export const secondsBetween = (startedAt: Date, endedAt: Date | null): number | null => {
  if (endedAt === null) return null
  const seconds = Math.max(0, Math.round((endedAt.getTime() - startedAt.getTime()) / 1_000))
  return seconds <= 2 ** 31 - 1 ? seconds : null
}

export const readState = (given: GivenTranscript): TranscriptState => {
  const fresh = given.read()
  const { hash, length, format, unreadable, turnCount } = fresh
  return { hash, length, format, unreadable, turnCount, transcribedBy: null, fresh }
}

/** Returns the row of a conversation's first part. */
export const begin = (
  id: string,
  { agentCompanyId, transcript, status, ...told }: ConversationPart,
): ConversationState => ({
  ...told,
  id,
  companyId: told.companyId ?? agentCompanyId,
  status: status ?? 'completed',
  durationSeconds: told.durationSeconds ?? secondsBetween(told.startedAt, told.endedAt),
  transcript: transcript && readState(transcript),
  signals: null,
})

/** Returns the merged status. A finished conversation does not become active again. */
const statusAfter = (
  present: ConversationState['status'],
  told: ConversationPart['status'],
): ConversationState['status'] => {
  if (told === null) return present === 'in_progress' ? 'completed' : present
  return told === 'in_progress' ? present : told
}

/** Returns the merged channel. If a machine answered a call, the whole call counts as voicemail. */
const channelAfter = (
  present: ConversationState['channel'],
  told: ConversationState['channel'],
): ConversationState['channel'] => (present === 'voicemail' && told === 'call' ? present : told)

/** Returns the merged duration. An explicit duration has priority over a computed one. */
const durationAfter = (present: ConversationState, part: ConversationPart, endedAt: Date | null): number | null => {
  if (part.durationSeconds !== null) return part.durationSeconds
  const moved = part.endedAt !== null && present.endedAt !== null && !isDeepStrictEqual(part.endedAt, present.endedAt)
  return moved || present.durationSeconds === null
    ? secondsBetween(present.startedAt, endedAt)
    : present.durationSeconds
}

const metadataAfter = (
  present: ConversationState['metadata'],
  told: ConversationState['metadata'],
): ConversationState['metadata'] => {
  const news = Object.entries(told).filter(([key, value]) => value !== null || !Object.hasOwn(present, key))
  return Object.fromEntries([...Object.entries(present), ...news])
}

/**
 * Returns whether the first transcript replaces the second: the one with more turns wins, then the one with the longer
 * text, then the one with the higher hash. This makes the result independent of the order of arrival.
 */
const isFuller = (a: TranscriptState, b: TranscriptState): boolean => {
  if (a.turnCount !== b.turnCount) return a.turnCount > b.turnCount
  return a.length === b.length ? a.hash > b.hash : a.length > b.length
}

const transcriptAfter = (present: TranscriptState | null, given: GivenTranscript | null): TranscriptState | null => {
  if (given === null || given.hash === present?.hash) return present
  const read = readState(given)
  // A transcript that was sent always replaces a transcript that was created from the recording.
  return present === null || present.transcribedBy !== null || isFuller(read, present) ? read : present
}

export const contradictionOf = ({ id }: ConversationState, facts: string[]): ApiError =>
  new ApiError('conflict', `The stored conversation with this externalId has a different ${facts.join(' and ')}.`, {
    conversationId: id,
  })

/** Returns an error if a part contradicts immutable facts. */
export const contradiction = (present: ConversationState, part: ConversationPart): ApiError | undefined => {
  const facts = [
    ...(part.agentId === present.agentId ? [] : ['agent']),
    ...(part.startedAt.getTime() === present.startedAt.getTime() ? [] : ['startedAt']),
  ]
  return facts.length === 0 ? undefined : contradictionOf(present, facts)
}

export const merge = (present: ConversationState, part: ConversationPart): ConversationState => {
  const endedAt = part.endedAt ?? present.endedAt
  return {
    ...present,
    agentVersionId: part.agentVersionId ?? present.agentVersionId,
    companyId: part.companyId ?? present.companyId,
    channel: channelAfter(present.channel, part.channel),
    direction: part.direction ?? present.direction,
    status: statusAfter(present.status, part.status),
    endedAt,
    durationSeconds: durationAfter(present, part, endedAt),
    endReason: part.endReason ?? present.endReason,
    customerId: part.customerId ?? present.customerId,
    metadata: metadataAfter(present.metadata, part.metadata),
    transcript: transcriptAfter(present.transcript, part.transcript),
  }
}

export const isSame = (a: ConversationState, b: ConversationState): boolean => {
  const { transcript: mine, ...told } = a
  const { transcript: others, ...toldOther } = b
  return mine?.hash === others?.hash && isDeepStrictEqual(told, toldOther)
}
