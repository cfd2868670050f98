import { commonMs, type TimeSpan, totalMs, type Utterance, union } from '../../transcripts/signals/speech.ts'
import type { Segment } from '../voice/segments.ts'

/** Checks that the transcript's times match its recording. If they didn't, the wrong words would be muted. */

const shifted = (spans: TimeSpan[], shiftMs: number): TimeSpan[] =>
  spans.map(({ startMs, endMs }) => ({ startMs: startMs + shiftMs, endMs: endMs + shiftMs }))

type Agreement = {
  /** Returns how long speech and utterances overlap if the transcript is shifted. */
  at: (shiftMs: number) => number
  /** Whether agent and customer are compared with their own channels. */
  hasSides: boolean
}

const openAgreement = (channels: Segment[][], utterances: Utterance[]): Agreement => {
  const of = (side: Utterance['by']) => union(utterances.filter(({ by }) => by === side))
  const [agent, customer] = [of('agent'), of('customer')]
  const [first = [], second] = channels
  if (second && agent.length > 0 && customer.length > 0) {
    const at = (shiftMs: number) => {
      const [a, b] = [shifted(agent, shiftMs), shifted(customer, shiftMs)]
      return Math.max(commonMs(first, a) + commonMs(second, b), commonMs(second, a) + commonMs(first, b))
    }
    return { at, hasSides: true }
  }
  const speech = union(channels.flat().sort((a, b) => a.startMs - b.startMs))
  const all = union(utterances)
  return { at: (shiftMs) => commonMs(speech, shifted(all, shiftMs)), hasSides: false }
}

/** The transcript is compared with the recording at these offsets. */
const [farthestMs, stepMs] = [30_000, 500]
/** The margins around redacted words cover smaller offsets. */
const toleratedMs = 1_000
/** Another offset must match this much better, and the current times must match less than this share. */
const [clearlyBetter, goodShare] = [1.2, 0.65]
/**
 * Without sides, a dense conversation matches well at any offset. So no other offset may match this much better.
 */
const betterWithoutSides = 1.1
/** With fewer utterances, another offset can match by chance. */
const leastUtterances = 3
/** Utterances also contain pauses, but at least this share of their time is speech. */
const leastShare = 0.3
/** With less speech, a match may be chance. */
const leastMs = 2_000

/** Returns the offset of the transcript, if another offset clearly matches better. */
const findShift = ({ at, hasSides }: Agreement, inPlaceMs: number): number | undefined => {
  let best = { shiftMs: 0, agreementMs: inPlaceMs }
  for (let shiftMs = -farthestMs; shiftMs <= farthestMs; shiftMs += stepMs) {
    const agreementMs = at(shiftMs)
    if (agreementMs > best.agreementMs) best = { shiftMs, agreementMs }
  }
  const isFar = Math.abs(best.shiftMs) > toleratedMs
  const factor = hasSides ? clearlyBetter : betterWithoutSides
  const isBetter = best.agreementMs > factor * inPlaceMs && best.agreementMs >= leastMs
  return isFar && isBetter ? best.shiftMs : undefined
}

/** Returns the reason why the times don't match, or undefined if they do. */
export const findMisfit = (channels: Segment[][], utterances: Utterance[]): string | undefined => {
  const spokenMs = totalMs(union(utterances))
  if (spokenMs < leastMs) return undefined
  const agreement = openAgreement(channels, utterances)
  const inPlaceMs = agreement.at(0)
  if (agreement.hasSides && inPlaceMs >= goodShare * spokenMs) return undefined
  const shiftMs = utterances.length < leastUtterances ? undefined : findShift(agreement, inPlaceMs)
  if (shiftMs !== undefined) {
    return `The transcript’s times seem to differ from the recording’s by ${Math.abs(shiftMs) / 1_000} s.`
  }
  if (inPlaceMs >= leastShare * spokenMs) return undefined
  return 'The transcript’s times don’t match the speech in the recording.'
}
