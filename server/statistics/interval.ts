/** The range of values that are not excluded. */
export type Interval = { low: number; high: number }

export const clamp = (value: number, low: number, high: number): number => Math.min(high, Math.max(low, value))

export const clampInterval = ({ low, high }: Interval, bounds: Interval): Interval => ({
  low: clamp(low, bounds.low, bounds.high),
  high: clamp(high, bounds.low, bounds.high),
})

export const around = (centre: number, half: number): Interval => ({ low: centre - half, high: centre + half })

/** Returns the boundary of `inside`, between a point inside and a point that may be outside. */
export const edge = (inside: (at: number) => boolean, from: number, to: number): number => {
  if (inside(to)) return to
  let near = from
  let far = to
  for (let halving = 0; halving < 100; halving++) {
    const middle = (near + far) / 2
    if (middle === near || middle === far) break
    if (inside(middle)) near = middle
    else far = middle
  }
  return (near + far) / 2
}
