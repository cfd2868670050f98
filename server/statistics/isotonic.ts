// Estimates a probability that never decreases as a value increases (isotonic regression).

/** A value and the probability at it. Between two points, the probability is on the line that joins them. */
export type Point = [value: number, probability: number]

export type Observation = { value: number; holds: boolean }

type Block = { from: number; to: number; holds: number; all: number }

const shareOf = ({ holds, all }: Block): number => holds / all

/** Merges equal values, in ascending order. */
const blocksOf = (observations: readonly Observation[]): Block[] => {
  const blocks: Block[] = []
  for (const { value, holds } of observations.toSorted((a, b) => a.value - b.value)) {
    const last = blocks.at(-1)
    if (last?.to === value) {
      last.holds += Number(holds)
      last.all++
    } else blocks.push({ from: value, to: value, holds: Number(holds), all: 1 })
  }
  return blocks
}

/** Merges neighbors as long as the share decreases from one to the next (pool adjacent violators). */
const pool = (blocks: Block[]): Block[] => {
  const pooled: Block[] = []
  for (const next of blocks) {
    let block = next
    for (let last = pooled.at(-1); last && shareOf(last) >= shareOf(block); last = pooled.at(-1)) {
      block = { from: last.from, to: block.to, holds: last.holds + block.holds, all: last.all + block.all }
      pooled.pop()
    }
    pooled.push(block)
  }
  return pooled
}

/** Returns points on the probability curve, which increases with the value. */
export const isotonic = (observations: readonly Observation[]): Point[] =>
  pool(blocksOf(observations)).flatMap((block): Point[] => {
    const share = shareOf(block)
    return block.from === block.to
      ? [[block.from, share]]
      : [
          [block.from, share],
          [block.to, share],
        ]
  })

/** Returns the probability at a value. Outside the points, uses the probability at the nearest point. */
export const probabilityAt = (points: readonly Point[], value: number): number => {
  const after = points.findIndex(([at]) => at >= value)
  const [next, previous] = [points[after < 0 ? points.length - 1 : after], points[after - 1]]
  if (!next) return Number.NaN
  if (after <= 0 || !previous) return next[1]
  return previous[1] + ((value - previous[0]) / (next[0] - previous[0])) * (next[1] - previous[1])
}
