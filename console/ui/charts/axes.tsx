// biome-ignore-all lint/a11y/noAriaHiddenOnFocusable: a <g> takes no focus
// Axes are hidden from screen readers, because each point's label contains its value.

import styles from './charts.module.css'
import type { Plot } from './frame.tsx'
import { middleOf, type Scale, type Span, shortTime } from './scale.ts'

/** Shows horizontal grid lines with their values on the left. */
export const ValueAxis = ({
  scale,
  width,
  format,
}: {
  scale: Scale
  width: number
  format: (value: number) => string
}) => (
  <g aria-hidden="true">
    {scale.ticks(4).map((tick) => (
      <g key={tick} transform={`translate(0 ${scale(tick)})`}>
        <line x2={width} className={tick === 0 ? styles.zero : styles.grid} />
        <text x={-8} dy="0.32em" className={`${styles.tick} ${styles.end}`}>
          {format(tick)}
        </text>
      </g>
    ))}
  </g>
)

const roomOfLabel = 64

/** Shows labels for days, hours, or weeks, as many as fit. */
export const TimeAxis = ({ spans, scale, plot }: { spans: Span[]; scale: Scale; plot: Plot }) => {
  const every = Math.max(1, Math.ceil(spans.length / Math.max(1, Math.floor(plot.width / roomOfLabel))))
  return (
    <g aria-hidden="true" transform={`translate(0 ${plot.height})`}>
      {spans.map(
        (span, index) =>
          (spans.length - 1 - index) % every === 0 && (
            <text
              key={span.start}
              x={Math.min(plot.width - 12, Math.max(4, middleOf(scale, span)))}
              y={18}
              className={`${styles.tick} ${styles.middle}`}
            >
              {shortTime(span, spans)}
            </text>
          ),
      )}
    </g>
  )
}
