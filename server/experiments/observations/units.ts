// Tracks the units with changed conversations, and the changes to all sums.

import type { Arm } from '../../statistics/sums.ts'
import { changeOutcome, type ExactOutcome, type TotalsByArm } from './exact-sums.ts'
import type { Counted, DimensionSplit, First, StoredUnit } from './queries.ts'
import { changeTotals, noUnitTotals, readTotals, storeTotals } from './unit-totals.ts'

type Unit = {
  conversations: Record<Arm, number>
  /** The totals by the outcome's position. An unchanged outcome keeps the same object. */
  held: readonly TotalsByArm[]
}

const noTotals: TotalsByArm = { a: noUnitTotals, b: noUnitTotals }

const unitFrom = (stored: StoredUnit | undefined, outcomes: number): Unit => ({
  conversations: { a: stored?.conversationsA ?? 0, b: stored?.conversationsB ?? 0 },
  held: Array.from({ length: outcomes }, (_, position) => {
    const [a, b] = stored?.held[position] ?? [[], []]
    return a.length + b.length === 0 ? noTotals : { a: readTotals(a), b: readTotals(b) }
  }),
})

const isInBothArms = ({ conversations: { a, b } }: Unit): boolean => a > 0 && b > 0
const sizeOf = ({ conversations: { a, b } }: Unit): number => a + b

/** A conversation that belongs to an arm, and therefore to a unit. */
type InArm = Counted & { arm: Arm }

const inArm = (one: Counted | null): InArm | null =>
  one === null || one.arm === null ? null : { ...one, arm: one.arm }

/** Adds a conversation to its unit, or removes it from the unit. */
const changeUnit = (unit: Unit, { arm, statuses, observed }: InArm, sign: 1 | -1): Unit => ({
  conversations: { ...unit.conversations, [arm]: unit.conversations[arm] + sign },
  held: unit.held.map((held, position) => {
    const status = statuses[position] ?? 0
    return status === 0 ? held : { ...held, [arm]: changeTotals(held[arm], status, observed[position] ?? 0, sign) }
  }),
})

/** Updates the outcomes of a conversation that stays in its unit. */
const changeAnswers = (unit: Unit, was: InArm, { arm, statuses, observed }: InArm): Unit => ({
  conversations: unit.conversations,
  held: unit.held.map((held, position) => {
    const [status = 0, value = 0] = [statuses[position], observed[position]]
    const [statusBefore = 0, valueBefore = 0] = [was.statuses[position], was.observed[position]]
    if (status === statusBefore && value === valueBefore) return held
    return { ...held, [arm]: changeTotals(changeTotals(held[arm], statusBefore, valueBefore, -1), status, value, 1) }
  }),
})

/** A conversation before and after the change. Null means that the conversation does not count. */
export type CountedChange = { before: Counted | null; after: Counted | null }

/** Collects the changes to counts by key. */
export const openSplits = () => {
  const changes = new Map<string, DimensionSplit>()
  return {
    add: (dimension: string, value: string, side: 'a' | 'b', by: number) => {
      const key = `${dimension} ${value}`
      const change = changes.get(key) ?? { dimension, value, a: 0, b: 0 }
      change[side] += by
      changes.set(key, change)
    },
    changes: () => [...changes.values()].filter(({ a, b }) => a !== 0 || b !== 0),
  }
}
export type Splits = ReturnType<typeof openSplits>

/** Counts units by their number of conversations: all units as `a`, and those in both arms as `b`. */
const countSize = (splits: Splits, unit: Unit, sign: 1 | -1) => {
  const size = sizeOf(unit)
  if (size === 0) return
  splits.add('unit-size', String(size), 'a', sign)
  if (isInBothArms(unit)) splits.add('unit-size', String(size), 'b', sign)
}

type FirstConversation = Omit<First, 'id'> & { conversationId: string | undefined }

/** Tracks the first conversation of a unit. The result is undefined if the available data is not sufficient. */
const followFirst = (stored: StoredUnit | undefined) => {
  let isKnown = true
  // The stored unit does not name its first conversation.
  let first: FirstConversation | undefined = stored && {
    arm: stored.firstArm,
    startedAt: stored.firstAt,
    conversationId: undefined,
  }
  return {
    comes: ({ arm, startedAt, conversationId }: InArm) => {
      const later = first ? startedAt.getTime() - first.startedAt.getTime() : -1
      if (later === 0 && first?.conversationId === undefined) isKnown = false
      else if (later < 0 || (later === 0 && conversationId < (first?.conversationId ?? ''))) {
        first = { arm, startedAt, conversationId }
      }
    },
    goes: ({ startedAt }: InArm) => {
      if (stored && startedAt <= stored.firstAt) isKnown = false
    },
    first: () => (isKnown ? first : undefined),
  }
}

type ChangedUnit = Unit & { first: Omit<First, 'id'> | undefined }

export type ChangedUnits = {
  /** The changed units by ID. */
  units: Map<string, ChangedUnit>
  sums: ExactOutcome[]
  /** The positions of outcomes with changed sums. */
  changed: Set<number>
}

export const changeUnits = (
  stored: StoredUnit[],
  sums: ExactOutcome[],
  turns: CountedChange[],
  splits: Splits,
): ChangedUnits => {
  const found = new Map(stored.map((unit) => [unit.id, unit]))
  const open = (id: string) => {
    const before = unitFrom(found.get(id), sums.length)
    return { before, after: before, firsts: followFirst(found.get(id)) }
  }
  const opened = new Map<string, ReturnType<typeof open>>()
  const unitOf = ({ unitId }: InArm) => {
    const unit = opened.get(unitId) ?? open(unitId)
    opened.set(unitId, unit)
    return unit
  }
  for (const { before, after } of turns) {
    const [was, is] = [inArm(before), inArm(after)]
    if (was && is && was.unitId === is.unitId && was.arm === is.arm) {
      const unit = unitOf(is)
      unit.after = changeAnswers(unit.after, was, is)
      continue
    }
    if (was) {
      const unit = unitOf(was)
      unit.after = changeUnit(unit.after, was, -1)
      unit.firsts.goes(was)
    }
    if (is) {
      const unit = unitOf(is)
      unit.after = changeUnit(unit.after, is, 1)
      unit.firsts.comes(is)
    }
  }
  const next = [...sums]
  const changed = new Set<number>()
  const units = new Map<string, ChangedUnit>()
  for (const [id, { before, after, firsts }] of opened) {
    units.set(id, { ...after, first: firsts.first() })
    countSize(splits, before, -1)
    countSize(splits, after, 1)
    const [wasInBoth, isInBoth] = [isInBothArms(before), isInBothArms(after)]
    for (const [position, ofOutcome] of next.entries()) {
      const [heldBefore = noTotals, held = noTotals] = [before.held[position], after.held[position]]
      if (wasInBoth === isInBoth && heldBefore === held) continue
      const without = changeOutcome(ofOutcome, heldBefore, { inBothArms: wasInBoth, sign: -1 })
      next[position] = changeOutcome(without, held, { inBothArms: isInBoth, sign: 1 })
      changed.add(position)
    }
  }
  return { units, sums: next, changed }
}

/** Returns the stored form of a unit, if it still has conversations. */
export const storedUnit = (id: string, unit: Unit, first: Omit<First, 'id'>): StoredUnit => ({
  id,
  conversationsA: unit.conversations.a,
  conversationsB: unit.conversations.b,
  firstArm: first.arm,
  firstAt: first.startedAt,
  held: unit.held.map(({ a, b }) => [storeTotals(a), storeTotals(b)]),
})
