import { scaleLinear } from 'd3-scale'
import { area, line } from 'd3-shape'
import styles from './charts.module.css'
import { percentile90 } from './scale.ts'

export type SparkPoint = { value: number | null; low?: number | null; high?: number | null }

type SparklineProps = {
  /** Describes the chart: its measure and period. */
  label: string
  /** The oldest point comes first. Null leaves a gap. */
  points: SparkPoint[]
  width?: number
  height?: number
  tone?: 'affected' | 'accent' | 'plain'
}

/** Shows a line chart that is as high as a line of text, with intervals if there are any. */
export const Sparkline = ({ label, points, width = 112, height = 26, tone = 'affected' }: SparklineProps) => {
  const known = points.flatMap(({ value }) => (value === null ? [] : [value]))
  const highs = points.flatMap(({ high }) => (high == null ? [] : [high]))
  const top = Math.max(...known, percentile90(highs)) || 1
  const x = scaleLinear([0, Math.max(1, points.length - 1)], [3, width - 4])
  const y = scaleLinear([0, top], [height - 3, 3]).clamp(true)
  const band = area<SparkPoint>(
    (_, at) => x(at),
    ({ low }) => y(low ?? 0),
    ({ high }) => y(high ?? 0),
  ).defined(({ low, high }) => low != null && high != null)
  const course = line<SparkPoint>(
    (_, at) => x(at),
    ({ value }) => y(value ?? 0),
  ).defined(({ value }) => value !== null)
  const last = points.findLastIndex(({ value }) => value !== null)
  return (
    <svg className={`${styles.spark} ${styles[tone]}`} width={width} height={height} role="img" aria-label={label}>
      <path className={styles.band} d={band(points) ?? ''} />
      <path className={styles.line} d={course(points) ?? ''} />
      {last >= 0 && <circle className={styles.dot} cx={x(last)} cy={y(points[last]?.value ?? 0)} r={2.5} />}
    </svg>
  )
}
