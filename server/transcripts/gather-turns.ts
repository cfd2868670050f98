import { type TurnDraft, Unreadable } from './draft.ts'
import { nestedJson } from './json.ts'
import type { Turn } from './turn.ts'

/**
 * Creates turns from a reader's drafts. Adds the values that are not set, and rejects drafts that exceed the limits.
 */

const maxTurns = 100_000
const maxWords = 1_000_000
const maxCharacters = 20_000_000
/** Thirty days. A larger value can't be a time from the start of a conversation. */
const latestMs = 30 * 24 * 60 * 60 * 1_000
/** The clocks of two machines differ, so a time that is this close before the start counts as the start. */
const clockSkewMs = 1_000

const wholeMs = (value: number | null | undefined): number | null => {
  if (value === null || value === undefined || !(value >= -clockSkewMs && value <= latestMs)) return null
  return Math.max(0, Math.round(value))
}

/**
 * Returns the start and end. If the end is before the start, it is unknown, because sources measure the start first.
 */
const span = ({ startMs, endMs }: { startMs?: number | null; endMs?: number | null }) => {
  const [start, end] = [wholeMs(startMs), wholeMs(endMs)]
  return { startMs: start, endMs: start !== null && end !== null && end < start ? null : end }
}

const latencyOf = (figures: TurnDraft['latency']): Turn['latency'] => {
  if (!figures) return null
  const latency = {
    transcriptionMs: wholeMs(figures.transcriptionMs),
    endOfTurnMs: wholeMs(figures.endOfTurnMs),
    modelMs: wholeMs(figures.modelMs),
    voiceMs: wholeMs(figures.voiceMs),
    totalMs: wholeMs(figures.totalMs),
  }
  return Object.values(latency).every((figure) => figure === null) ? null : latency
}

const jsonOf = (value: unknown): unknown => (typeof value === 'string' ? (nestedJson(value) ?? value) : (value ?? null))

/** Returns a function that adds tool names to results, which often only have the ID of their call. */
const toolReader = () => {
  const names = new Map<string, string>()
  return (tool: TurnDraft['tool']): Turn['tool'] => {
    if (!tool) return null
    const callId = tool.callId ?? null
    const name = tool.name ?? (callId === null ? undefined : names.get(callId)) ?? null
    if (callId !== null && name !== null) names.set(callId, name)
    return {
      callId,
      name,
      arguments: jsonOf(tool.arguments),
      result: jsonOf(tool.result),
      isError: tool.isError ?? null,
    }
  }
}

const ceiling = (limit: number, what: string) => {
  let total = 0
  return (more: number) => {
    total += more
    if (total > limit) throw new Unreadable(`the transcript has more than ${limit.toLocaleString('en')} ${what}`)
  }
}

export const gatherTurns = (drafts: Iterable<TurnDraft>): Turn[] => {
  const turns: Turn[] = []
  const readTool = toolReader()
  const countTurns = ceiling(maxTurns, 'turns')
  const countWords = ceiling(maxWords, 'words with timestamps')
  const countCharacters = ceiling(maxCharacters, 'characters')
  for (const draft of drafts) {
    countTurns(1)
    countWords(draft.words?.length ?? 0)
    countCharacters(draft.text?.length ?? 0)
    turns.push({
      index: turns.length,
      role: draft.role,
      kind: draft.kind,
      text: draft.text ?? null,
      ...span(draft),
      interrupted: draft.interrupted ?? false,
      words: draft.words?.length ? draft.words.map((word) => ({ text: word.text, ...span(word) })) : null,
      tool: readTool(draft.tool),
      latency: latencyOf(draft.latency),
    })
  }
  return turns
}
