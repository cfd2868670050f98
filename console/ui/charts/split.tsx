import type { LinkProps } from '@tanstack/react-router'
import { formatPercent } from '../../lib/format.ts'
import { BandLine } from './band-line.tsx'

export type SplitPoint = {
  start: string
  end: string
  /** Null where nothing was routed. */
  share: number | null
  low?: number | null
  high?: number | null
  n?: number
  link?: LinkProps
}

type SplitProps = {
  /** States what is seen. */
  title: string
  points: SplitPoint[]
  /** The share that was asked for. */
  expected: number
  /** Whose share it is: "Share of B". */
  valueName: string
  height?: number
}

/** A share over time beside the one that was asked for. */
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
