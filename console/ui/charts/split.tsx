import type { LinkProps } from '@tanstack/react-router'
import { formatPercent } from '../../lib/format.ts'
import { BandLine } from './band-line.tsx'

export type SplitPoint = {
  start: string
  end: string
  /** Null if nothing was routed. */
  share: number | null
  low?: number | null
  high?: number | null
  n?: number
  link?: LinkProps
}

type SplitProps = {
  /** Describes the chart. */
  title: string
  points: SplitPoint[]
  /** The expected share. */
  expected: number
  /** The name of the share, such as "Share of B". */
  valueName: string
  height?: number
}

/** Shows a share over time next to its expected value. */
export const Split = ({ title, points, expected, valueName, height = 160 }: SplitProps) => (
  <BandLine
    title={title}
    points={points.map(({ share, ...point }) => ({ ...point, value: share }))}
    valueName={valueName}
    domain={[0, 1]}
    reference={{ value: expected, label: `expected ${formatPercent(expected)}` }}
    tone="accent"
    height={height}
  />
)
