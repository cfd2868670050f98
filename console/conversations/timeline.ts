// Arranges a transcript for reading: which turns share a line, when each turn occurs, and which responses were slow.

import type { Schemas } from '../api/schema.d.ts'

export type Turn = Schemas['Turn']

export type Line =
  | { kind: 'message'; turn: Turn; speaker: boolean }
  | { kind: 'overlap'; turns: Turn[] }
  | { kind: 'tool'; call: Turn; result: Turn | undefined }
  | { kind: 'aside'; turn: Turn }

const names: Record<Turn['role'], string> = {
  agent: 'Agent',
  customer: 'Customer',
  system: 'System',
  tool: 'Tool',
  human_agent: 'Human agent',
  other: 'Other',
}

export const speakerOf = ({ role }: Turn): string => names[role]

const isSaid = ({ kind, role }: Turn) => kind === 'message' && role !== 'system' && role !== 'tool'

const startsWithin = (turn: Turn, before: Turn): boolean =>
  turn.startMs !== null && before.endMs !== null && turn.startMs < before.endMs && turn.role !== before.role

const resultOf = (turns: Turn[], at: number, taken: Set<number>): Turn | undefined => {
  const callId = turns[at]?.tool?.callId
  return turns.find(
    ({ index, kind, tool }) =>
      kind === 'tool_result' && index > at && !taken.has(index) && (!callId || tool?.callId === callId),
  )
}

/** Returns the turns on the previous line if this turn starts before the last of them ends. */
const overlappedBy = (turn: Turn, line: Line | undefined): Turn[] | undefined => {
  if (line?.kind !== 'message' && line?.kind !== 'overlap') return undefined
  const turns = turnsOf(line)
  const last = turns.at(-1)
  return last && isSaid(last) && startsWithin(turn, last) ? turns : undefined
}

const isOfTool = ({ kind }: Turn) => kind === 'tool_call' || kind === 'tool_result'

/** Returns the lines of a transcript. Overlapping turns share a line. */
export const linesOf = (turns: Turn[]): Line[] => {
  const lines: Line[] = []
  const taken = new Set<number>()
  let lastSpeaker: string | undefined
  turns.forEach((turn, at) => {
    if (taken.has(turn.index)) return
    if (isOfTool(turn)) {
      const result = turn.kind === 'tool_call' ? resultOf(turns, at, taken) : undefined
      if (result) taken.add(result.index)
      lines.push({ kind: 'tool', call: turn, result })
      return
    }
    if (!isSaid(turn)) {
      lines.push({ kind: 'aside', turn })
      return
    }
    const before = overlappedBy(turn, lines.at(-1))
    if (before) lines[lines.length - 1] = { kind: 'overlap', turns: [...before, turn] }
    else lines.push({ kind: 'message', turn, speaker: turn.role !== lastSpeaker })
    lastSpeaker = turn.role
  })
  return lines
}

export const turnsOf = (line: Line): Turn[] => {
  if (line.kind === 'overlap') return line.turns
  if (line.kind === 'tool') return line.result ? [line.call, line.result] : [line.call]
  return [line.turn]
}

/** Returns the response time of each agent turn, from the source or computed from timestamps. */
export const waitsOf = (turns: Turn[]): Map<number, number> => {
  const waits = new Map<number, number>()
  let heard: Turn | undefined
  for (const turn of turns) {
    if (!isSaid(turn)) continue
    const told = turn.latency?.totalMs
    const gap =
      heard?.role === 'customer' && heard.endMs !== null && turn.startMs !== null ? turn.startMs - heard.endMs : null
    const wait = told ?? gap
    if (turn.role === 'agent' && wait !== null && wait > 0) waits.set(turn.index, wait)
    heard = turn
  }
  return waits
}

/** A response that takes longer than this is marked as slow. */
export const slowMs = 2_000

/** Returns the components of a response time, if the source reports them. */
export const partsOf = ({ latency }: Turn): [name: string, ms: number][] =>
  latency === null
    ? []
    : (
        [
          ['end of turn', latency.endOfTurnMs],
          ['transcription', latency.transcriptionMs],
          ['model', latency.modelMs],
          ['voice', latency.voiceMs],
        ] as const
      ).flatMap(([name, ms]) => (ms === null ? [] : [[name, ms] as [string, number]]))

export type Band = { index: number; role: Turn['role']; from: number; to: number }

/**
 * Returns when each speaker talks, in seconds. A turn without an end time lasts until the next turn, or for the
 * estimated duration of its words.
 */
export const bandsOf = (turns: Turn[]): Band[] => {
  const timed = turns.filter((turn) => isSaid(turn) && turn.startMs !== null)
  return timed.map(({ index, role, startMs, endMs, text }, at) => {
    const from = (startMs ?? 0) / 1_000
    const spoken = from + Math.max(1, (text?.length ?? 0) / 15)
    const next = timed[at + 1]?.startMs
    const guess = next == null ? spoken : Math.min(spoken, Math.max(from, next / 1_000))
    return { index, role, from, to: endMs === null ? guess : endMs / 1_000 }
  })
}

/** Returns the turn at this second: the last one that has started. */
export const bandAt = (bands: Band[], seconds: number): Band | undefined => {
  let [low, high] = [0, bands.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((bands[middle] as Band).from <= seconds + 0.01) low = middle + 1
    else high = middle
  }
  return bands[low - 1]
}

type Result = Schemas['MonitorResult']

/** A quote cited by a monitor. */
export type Mark = { turn: number; seconds: number | null; quote: string; monitorId: string; affected: boolean }

export const marksOf = (results: Result[], turns: Turn[]): Mark[] =>
  results
    .flatMap(({ monitorId, result, evidence }) =>
      evidence.map(({ turn, quote }) => {
        const startMs = turns[turn]?.startMs ?? null
        const seconds = startMs === null ? null : startMs / 1_000
        return { turn, seconds, quote, monitorId, affected: result === 'affected' }
      }),
    )
    .sort((a, b) => a.turn - b.turn)
