import type { Turn } from '../../transcripts/turn.ts'
import { shapes, type Value } from './language/values.ts'
import { fold } from './patterns/fold.ts'
import type { Pattern } from './patterns/patterns.ts'

/** Presents turns to rules, with the functions for lists of turns. */

export type TurnValue = Value<Turn & { text: string }> & { folded?: string }

/** A list of turns. Lists that many rules search repeatedly cache the results. */
export type TurnList = TurnValue[] & { memo?: Memo }
type Memo = { folded?: string; byRole: Map<string, TurnList> }

/** Returns turns as values. The text of a turn without speech is empty rather than unknown. */
export const turnValuesOf = (turns: Turn[]): TurnList =>
  remembering(turns.map((turn) => new shapes.Turn(turn.text === null ? { ...turn, text: '' } : turn)))

// The values were created from turns.
const remembering = (turns: object[]): TurnList => Object.assign(turns as TurnValue[], { memo: { byRole: new Map() } })

const foldedOf = (turn: TurnValue): string => {
  turn.folded ??= fold(turn.given.text)
  return turn.folded
}

/** Returns the turns spoken by a role. Tool calls also belong to the agent, but are not speech. */
export const by = (turns: TurnList, role: string): TurnList => {
  const known = turns.memo?.byRole.get(role)
  if (known) return known
  const spoken = turns.filter(({ given }) => given.role === role && given.kind === 'message')
  if (!turns.memo) return spoken
  const kept = remembering(spoken)
  turns.memo.byRole.set(role, kept)
  return kept
}

export const isMentionedIn = (turn: TurnValue, pattern: Pattern): boolean =>
  turn.given.text !== '' && pattern.occursIn(turn.given.text, foldedOf(turn))

/** Returns whether a pattern can match in any turn. One check of all words excludes most lists. */
const mayMention = (turns: TurnList, pattern: Pattern): boolean => {
  const { memo } = turns
  if (!memo) return true
  memo.folded ??= turns.map(foldedOf).join('\n')
  return pattern.mayOccurIn(memo.folded)
}

export const mention = (turns: TurnList, pattern: Pattern): boolean =>
  mayMention(turns, pattern) && turns.some((turn) => isMentionedIn(turn, pattern))

export const mentioning = (turns: TurnList, pattern: Pattern): TurnList =>
  mayMention(turns, pattern) ? turns.filter((turn) => isMentionedIn(turn, pattern)) : []

export const callsOf = (turns: TurnList, tool: string): TurnList =>
  turns.filter(({ given }) => given.kind === 'tool_call' && given.tool?.name === tool)

const firstIndexOf = (turns: TurnList): number =>
  turns.reduce((least, { given }) => Math.min(least, given.index), Number.POSITIVE_INFINITY)

/** Returns the turns after the first turn of `others`, or none if `others` is empty. */
export const after = (turns: TurnList, others: TurnList): TurnList => {
  const first = firstIndexOf(others)
  return turns.filter(({ given }) => given.index > first)
}

/** Returns the turns before the first turn of `others`, or all turns if `others` is empty. */
export const before = (turns: TurnList, others: TurnList): TurnList => {
  const first = firstIndexOf(others)
  return turns.filter(({ given }) => given.index < first)
}
