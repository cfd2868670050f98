import { commonMs, totalMs, type Utterance, union } from '../transcripts/signals/speech.ts'
import type { Channel } from './measures/turn-taking.ts'
import type { Segment } from './voice/segments.ts'

/** Which channel each side of the conversation is on. */
export type Speakers = { agent: Channel; customer: Channel }

/** The transcript must match this much better with one assignment than with the other. */
const clearShare = 0.7
/** With less shared speech, a match may be chance. */
const shortestCommonMs = 2_000

/** Identifies the speaker of each channel by comparing the speech on it with the times in the transcript. */
const findByTranscript = (channels: [Segment[], Segment[]], utterances: Utterance[] | null): Speakers | undefined => {
  if (utterances === null) return undefined
  const spoken = (side: Utterance['by']) => union(utterances.filter(({ by }) => by === side))
  const [agent, customer] = [spoken('agent'), spoken('customer')]
  if (totalMs(agent) === 0 || totalMs(customer) === 0) return undefined
  const straight = commonMs(channels[0], agent) + commonMs(channels[1], customer)
  const crossed = commonMs(channels[1], agent) + commonMs(channels[0], customer)
  const best = Math.max(straight, crossed)
  if (best < shortestCommonMs || best < clearShare * (straight + crossed)) return undefined
  return straight > crossed ? { agent: 0, customer: 1 } : { agent: 1, customer: 0 }
}

export type Identified = Speakers & { by: 'setting' | 'transcript' }

/**
 * Identifies the speaker of each channel by the setting of the agent or the organization, or otherwise by the
 * transcript.
 */
export const findSpeakers = (
  channels: [Segment[], Segment[]],
  { utterances, agentChannel }: { utterances: Utterance[] | null; agentChannel: Channel | null },
): Identified | undefined => {
  if (agentChannel !== null) return { agent: agentChannel, customer: agentChannel === 0 ? 1 : 0, by: 'setting' }
  const speakers = findByTranscript(channels, utterances)
  return speakers && { ...speakers, by: 'transcript' }
}
