// biome-ignore-all lint/a11y/noAriaHiddenOnFocusable: a <g> takes no focus
// Events that are marked across a chart over time.

import { Link, type LinkProps } from '@tanstack/react-router'
import styles from './charts.module.css'

const roomOfLabel = 30

/** Shows vertical lines with their names above. Names that would overlap only appear in tooltips and the table. */
export const Verticals = ({ lines, height }: { lines: { x: number; label: string }[]; height: number }) => {
  const sorted = lines.toSorted((a, b) => a.x - b.x)
  return (
    <g aria-hidden="true">
      {sorted.map(({ x, label }, index) => (
        <g key={label} transform={`translate(${x} 0)`}>
          <line className={styles.vertical} y1={-4} y2={height} />
          {x - (sorted[index - 1]?.x ?? -Infinity) > roomOfLabel && (
            <text className={`${styles.tick} ${styles.middle}`} y={-6}>
              {label}
            </text>
          )}
        </g>
      ))}
    </g>
  )
}

/** Shows spikes: diamonds at the bottom of the chart that link to their findings. */
export const SpikeMarks = ({
  spikes,
  height,
}: {
  spikes: { id: string; x: number; label: string; link?: LinkProps }[]
  height: number
}) =>
  spikes.map(({ id, x, label, link }) => {
    const form = (
      <>
        <title>{label}</title>
        <rect className={styles.reach} x={-12} y={-12} width={24} height={24} />
        <rect className={styles.reach} x={-6} y={-height} width={12} height={height} />
        <line className={styles.spikeLine} y1={-height} />
        <path className={styles.spike} d="M0 -6 6 0 0 6 -6 0Z" />
      </>
    )
    const common = { transform: `translate(${x} ${height})`, 'aria-label': label, className: styles.spikeMark }
    return link ? (
      <Link key={id} {...link} {...common}>
        {form}
      </Link>
    ) : (
      // biome-ignore lint/a11y/noInteractiveElementToNoninteractiveRole: the mark has a label but no link
      <g key={id} role="img" {...common}>
        {form}
      </g>
    )
  })
