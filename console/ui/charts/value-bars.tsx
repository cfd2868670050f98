import { formatPercent } from '../../lib/format.ts'
import { TimeAxis, ValueAxis } from './axes.tsx'
import type { BandLineProps } from './band-line.tsx'
import styles from './charts.module.css'
import { Frame, type Mark, type Plot } from './frame.tsx'
import { extentOf, tableOfPoints, wordsOf } from './points.ts'
import { longTime, middleOf, percentTick, startOf, timeScale, valueScale, widthOf } from './scale.ts'

type ValueBarsProps = Pick<
  BandLineProps,
  'title' | 'points' | 'valueName' | 'format' | 'formatTick' | 'tone' | 'height' | 'point'
>

/** Shows values over time as bars, with lines for their intervals. */
export const ValueBars = ({
  title,
  points,
  valueName,
  format = formatPercent,
  formatTick = percentTick,
  tone = 'accent',
  height = 200,
  point,
}: ValueBarsProps) => {
  const marks = ({ width }: Plot): Mark[] => {
    const x = timeScale(points, width)
    return points.map((at) => ({
      key: at.start,
      x: startOf(x, at),
      width: widthOf(x, at),
      head: longTime(at),
      link: at.link,
      lines: wordsOf(at, format),
    }))
  }
  return (
    <Frame
      title={title}
      table={tableOfPoints(points, valueName, format)}
      points={points.filter(({ value }) => value !== null).length}
      {...(point && { point })}
      height={height}
      marks={marks}
    >
      {(plot) => {
        const x = timeScale(points, plot.width)
        const y = valueScale(extentOf(points, [0]), plot.height)
        const [bottom, top] = y.range() as [number, number]
        const within = (value: number) => Math.min(bottom, Math.max(top, y(value)))
        return (
          <g className={styles[tone]}>
            <ValueAxis scale={y} width={plot.width} format={formatTick} />
            <TimeAxis spans={points} scale={x} plot={plot} />
            {points.map((at) => {
              const { value, low, high } = at
              if (value === null) return null
              const width = widthOf(x, at)
              const gap = Math.min(3, width * 0.15)
              const middle = middleOf(x, at)
              return (
                <g key={at.start} className={at.start === plot.active ? styles.activeBar : undefined}>
                  <rect
                    className={styles.valueBar}
                    x={startOf(x, at) + gap / 2}
                    y={Math.min(y(0), y(value))}
                    width={Math.max(1, width - gap)}
                    height={Math.abs(y(value) - y(0))}
                  />
                  {low != null && high != null && width > 6 && (
                    <line className={styles.barInterval} x1={middle} x2={middle} y1={within(low)} y2={within(high)} />
                  )}
                </g>
              )
            })}
          </g>
        )
      }}
    </Frame>
  )
}
