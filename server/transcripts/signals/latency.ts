import type { Utterance } from './speech.ts'

/**
 * Returns the time that the customer waited for each answer: the agent's start minus the customer's end before it. An
 * answer is the first utterance of the agent after the customer has finished. This excludes:
 * - an utterance that starts while the customer is still speaking (the agent's next one may then be the answer),
 * - utterances after a customer's word during the agent's own speech ("uh-huh"), because nobody was waiting,
 * - utterances of the agent after someone else took the turn, such as a person after a transfer.
 */
export const responseLatencies = (utterances: Utterance[]): number[] => {
  const latencies: number[] = []
  let agentEndMs = 0
  let waitingSinceMs: number | null = null
  for (const { by, startMs, endMs } of utterances) {
    if (by === 'customer') waitingSinceMs = Math.max(waitingSinceMs ?? 0, endMs)
    else if (by === 'others') waitingSinceMs = null
    else {
      if (waitingSinceMs !== null && waitingSinceMs <= startMs) {
        if (waitingSinceMs >= agentEndMs) latencies.push(startMs - waitingSinceMs)
        waitingSinceMs = null
      }
      agentEndMs = Math.max(agentEndMs, endMs)
    }
  }
  return latencies
}

/** Interpolates between the two nearest ranks, like percentile_cont in SQL. The list must be sorted. */
export const percentile = (ordered: number[], share: number): number | null => {
  if (ordered.length === 0) return null
  const rank = share * (ordered.length - 1)
  const [below, above] = [ordered[Math.floor(rank)] ?? 0, ordered[Math.ceil(rank)] ?? 0]
  return Math.round(below + (above - below) * (rank - Math.floor(rank)))
}
