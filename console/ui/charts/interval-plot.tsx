import { scaleLinear } from 'd3-scale'
import { type ReactNode, useRef, useState } from 'react'
import { signedPoints } from '../../lib/format.ts'
import { useWidth } from '../use-width.ts'
import styles from './charts.module.css'
import { AsTable, ChartRows, type ChartTable } from './rows.tsx'
import type { Scale } from './scale.ts'

export type IntervalRow = {
  id: string
  label: ReactNode
  /** Null if there is no value yet. */
  value: number | null
  /** The fixed interval, drawn as thin whiskers. */
  low?: number | null
  high?: number | null
  /** The always-valid interval, drawn as a thick, paler bar behind. */
  validLow?: number | null
  validHigh?: number | null
  /** Whether this is the most important row. */
  highlight?: boolean
  /** Appears on the right, such as a verdict. */
  reading?: ReactNode
}

type Ends = Pick<IntervalRow, 'value' | 'low' | 'high' | 'validLow' | 'validHigh'>

/** Returns the scale for all rows, which includes zero. */
export const intervalDomain = (rows: Ends[]): [number, number] => {
  const ends = rows
    .flatMap(({ value, low, high, validLow, validHigh }) => [value, low, high, validLow, validHigh])
    .filter((end) => end != null)
  const [least, most] = [Math.min(0, ...ends), Math.max(0, ...ends)]
  const air = (most - least) * 0.04 || 0.01
  return [least - air, most + air]
}

type DrawnProps = Ends & {
  /** Describes the row for screen readers. */
  label: string
  domain: [number, number]
  width: number
  height?: number
  highlight?: boolean
}

/** Shows one row's dot and intervals, for use in tables. Rows with the same `domain` can be compared. */
export const IntervalBar = ({ label, domain, width, height = 34, highlight = false, ...ends }: DrawnProps) => {
  const x = scaleLinear(domain, [1, width - 1]).clamp(true)
  const { value, low, high, validLow, validHigh } = ends
  const middle = height / 2
  const thick = highlight ? 10 : 8
  return (
    <svg
      className={highlight ? `${styles.svg} ${styles.accent}` : `${styles.svg} ${styles.plain}`}
      width={width}
      height={height}
      role="img"
      aria-label={label}
    >
      <line className={styles.zero} x1={x(0)} x2={x(0)} y2={height} />
      {validLow != null && validHigh != null && (
        <rect
          className={styles.outer}
          x={x(validLow)}
          width={Math.max(1, x(validHigh) - x(validLow))}
          y={middle - thick / 2}
          height={thick}
          rx={2}
        />
      )}
      {low != null && high != null && (
        <g className={styles.whisker}>
          <line x1={x(low)} x2={x(high)} y1={middle} y2={middle} />
          <line x1={x(low)} x2={x(low)} y1={middle - 4} y2={middle + 4} />
          <line x1={x(high)} x2={x(high)} y1={middle - 4} y2={middle + 4} />
        </g>
      )}
      {value !== null && <circle className={styles.dot} cx={x(value)} cy={middle} r={highlight ? 5 : 4} />}
    </svg>
  )
}

type IntervalPlotProps = {
  /** Describes the chart. */
  title: string
  rows: IntervalRow[]
  /** Formats values. The default is signed percentage points. */
  format?: (value: number) => string
  /** The labels on the left and right of zero, such as ["fewer in B", "more in B"]. */
  sides?: [string, string]
  /** The range of the axis. By default, the axis covers all values. */
  domain?: [number, number]
}

const wordsOf = ({ value, low, high, validLow, validHigh }: Ends, format: (value: number) => string) =>
  [
    value === null ? 'no data yet' : format(value),
    low != null && high != null && `fixed interval ${format(low)} to ${format(high)}`,
    validLow != null && validHigh != null && `always-valid interval ${format(validLow)} to ${format(validHigh)}`,
  ]
    .filter(Boolean)
    .join(', ')

const tableOf = (rows: IntervalRow[], format: (value: number) => string): ChartTable => ({
  head: ['Name', 'Value', 'Fixed from', 'to', 'Always valid from', 'to '],
  rows: rows.map(({ label, value, low, high, validLow, validHigh }) => [
    label,
    ...[value, low, high, validLow, validHigh].map((end) => (end == null ? '–' : format(end))),
  ]),
})

/** Shows differences and their intervals on a shared scale. */
export const IntervalPlot = ({ title, rows, format = signedPoints, sides, domain }: IntervalPlotProps) => {
  const box = useRef<HTMLDivElement>(null)
  const width = useWidth(box)
  const seen = domain ?? intervalDomain(rows)
  const [asTable, setAsTable] = useState(false)
  const x = scaleLinear(seen, [1, Math.max(2, width - 1)])
  const hasFixed = rows.some(({ low }) => low != null)
  const hasValid = rows.some(({ validLow }) => validLow != null)
  return (
    <figure className={styles.figure}>
      <figcaption className={styles.caption}>
        <span className={styles.title}>{title}</span>
        {(hasFixed || hasValid) && <IntervalLegend fixed={hasFixed} valid={hasValid} />}
        <AsTable isOn={asTable} onChange={setAsTable} />
      </figcaption>
      {asTable && <ChartRows title={title} table={tableOf(rows, format)} />}
      <div className={styles.intervals} hidden={asTable}>
        {rows.map((row) => (
          <div key={row.id} className={row.highlight ? `${styles.interval} ${styles.highlight}` : styles.interval}>
            <div>{row.label}</div>
            <div>
              {width > 0 && (
                <IntervalBar
                  {...row}
                  label={`${typeof row.label === 'string' ? `${row.label}: ` : ''}${wordsOf(row, format)}`}
                  domain={seen}
                  width={width}
                  height={row.highlight ? 42 : 34}
                />
              )}
            </div>
            <div className={styles.reading}>
              {row.reading ?? (row.value === null ? 'Not enough data' : format(row.value))}
            </div>
          </div>
        ))}
        <div className={styles.interval}>
          <div />
          <div ref={box}>{width > 0 && <IntervalAxis scale={x} width={width} format={format} sides={sides} />}</div>
          <div />
        </div>
      </div>
    </figure>
  )
}

const IntervalAxis = ({
  scale,
  width,
  format,
  sides,
}: {
  scale: Scale
  width: number
  format: (value: number) => string
  sides: [string, string] | undefined
}) => (
  <svg className={styles.svg} width={width} height={sides ? 36 : 20} aria-hidden="true">
    {scale.ticks(Math.max(2, Math.min(6, Math.floor(width / 70)))).map((tick) => {
      const x = scale(tick)
      const side = x < 20 ? '' : x > width - 20 ? styles.end : styles.middle
      return (
        <g key={tick} transform={`translate(${x} 0)`}>
          <line className={styles.zero} y2={4} />
          <text className={`${styles.tick} ${side}`} y={16}>
            {format(tick)}
          </text>
        </g>
      )
    })}
    {sides && (
      <>
        <text className={styles.tick} y={32}>
          {sides[0]}
        </text>
        <text className={`${styles.tick} ${styles.end}`} x={width} y={32}>
          {sides[1]}
        </text>
      </>
    )}
  </svg>
)

const IntervalLegend = ({ fixed, valid }: { fixed: boolean; valid: boolean }) => (
  <ul className={`${styles.legend} ${styles.plain}`}>
    {fixed && (
      <li>
        <svg width="20" height="12" aria-hidden="true">
          <line className={styles.whisker} x1="1" x2="19" y1="6" y2="6" />
        </svg>
        fixed: valid only at a planned end date
      </li>
    )}
    {valid && (
      <li>
        <svg width="20" height="12" aria-hidden="true">
          <rect className={styles.outer} x="1" width="18" y="2" height="8" rx="2" />
        </svg>
        always valid: correct at any time
      </li>
    )}
  </ul>
)
