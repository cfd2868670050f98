// The units whose conversations changed, and what that changes in all sums.

import { changeOutcome, type ExactOutcome, type HeldByArm } from './exact-sums.ts'
import { holdChanged, nothingHeld, readHeld, storeHeld } from './held.ts'
import type { Arm, Counted, Split, StoredUnit } from './queries.ts'

type Unit = { conversations: Record<Arm, number>; held: HeldByArm[] }

const noHeld: HeldByArm = { a: nothingHeld, b: nothingHeld }

const unitFrom = (stored: StoredUnit | undefined, outcomes: number): Unit => ({
  conversations: { a: stored?.conversationsA ?? 0, b: stored?.conversationsB ?? 0 },
  held: Array.from({ length: outcomes }, (_, position) => {
    const [a, b] = stored?.held[position] ?? [[], []]
    return { a: readHeld(a), b: readHeld(b) }
  }),
})

const isInBothArms = ({ conversations: { a, b } }: Unit): boolean => a > 0 && b > 0
const sizeOf = ({ conversations: { a, b } }: Unit): number => a + b

/** Takes a conversation into its unit, or out of it. */
const changeUnit = (unit: Unit, { arm, statuses, observed }: Counted, sign: 1 | -1): Unit => {
  if (arm === null) return unit
  return {
    conversations: { ...unit.conversations, [arm]: unit.conversations[arm] + sign },
    held: unit.held.map((held, position) => ({
      ...held,
      [arm]: holdChanged(held[arm], statuses[position] ?? 0, observed[position] ?? 0, sign),
    })),
  }
}

/** A conversation before and after; null is not counted. */
export type Turn = { before: Counted | null; after: Counted | null }

const isSame = (one: HeldByArm, other: HeldByArm): boolean =>
  JSON.stringify([storeHeld(one.a), storeHeld(one.b)]) === JSON.stringify([storeHeld(other.a), storeHeld(other.b)])

/** The changes of counted values by what they are counted by. */
export const openSplits = () => {
  const changes = new Map<string, Split>()
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

/** Units in many, and those in both arms among them, by how many conversations they have. */
const countSize = (splits: Splits, unit: Unit, sign: 1 | -1) => {
  const size = sizeOf(unit)
  if (size === 0) return
  splits.add('unit-size', String(size), 'a', sign)
  if (isInBothArms(unit)) splits.add('unit-size', String(size), 'b', sign)
}

export type ChangedUnits = {
  /** By their id, without their first conversation, which is known once the conversations are stored. */
  units: Map<string, Unit>
  sums: ExactOutcome[]
  /** Positions whose sums changed. */
  changed: Set<number>
}

export const changeUnits = (
  stored: StoredUnit[],
  sums: ExactOutcome[],
  turns: Turn[],
  splits: Splits,
): ChangedUnits => {
  const found = new Map(stored.map((unit) => [unit.id, unit]))
  const outcomes = sums.length
  const before = new Map<string, Unit>()
  const units = new Map<string, Unit>()
  const turn = (conversation: Counted | null, sign: 1 | -1) => {
    if (!conversation || conversation.arm === null) return
    const { unitId } = conversation
    const unit = units.get(unitId) ?? unitFrom(found.get(unitId), outcomes)
    if (!before.has(unitId)) before.set(unitId, unit)
    units.set(unitId, changeUnit(unit, conversation, sign))
  }
  for (const { before: was, after: is } of turns) {
    turn(was, -1)
    turn(is, 1)
  }
  const next = [...sums]
  const changed = new Set<number>()
  for (const [id, unit] of units) {
    const was = before.get(id) ?? unitFrom(undefined, outcomes)
    countSize(splits, was, -1)
    countSize(splits, unit, 1)
    const [wasInBoth, isInBoth] = [isInBothArms(was), isInBothArms(unit)]
    for (let position = 0; position < outcomes; position++) {
      const [heldBefore = noHeld, held = noHeld] = [was.held[position], unit.held[position]]
      const sumsBefore = next[position]
      if (!sumsBefore || (wasInBoth === isInBoth && isSame(heldBefore, held))) continue
      const without = changeOutcome(sumsBefore, heldBefore, { inBothArms: wasInBoth, sign: -1 })
      next[position] = changeOutcome(without, held, { inBothArms: isInBoth, sign: 1 })
      changed.add(position)
    }
  }
  return { units, sums: next, changed }
}

/** What is stored of a unit that has conversations left. */
export const storedUnit = (id: string, unit: Unit, first: { arm: Arm; startedAt: Date }): StoredUnit => ({
  id,
  conversationsA: unit.conversations.a,
  conversationsB: unit.conversations.b,
  firstArm: first.arm,
  firstAt: first.startedAt,
  held: unit.held.map(({ a, b }) => [storeHeld(a), storeHeld(b)]),
})
