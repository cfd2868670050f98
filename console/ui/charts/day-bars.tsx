import type { LinkProps } from '@tanstack/react-router'
import { useId } from 'react'
import { formatCount, formatShort } from '../../lib/format.ts'
import { TimeAxis, ValueAxis } from './axes.tsx'
import styles from './charts.module.css'
import { Frame, type Mark, type Plot } from './frame.tsx'
import { Hatch, Legend, type Look, looks } from './result-styles.tsx'
import { longTime, startOf, timeScale, valueScale, widthOf } from './scale.ts'

export type DayBar = {
  start: string
  end: string
  /** The count of each kind. */
  counts: Partial<Record<Look, number>>
  /** Opens the underlying conversations. */
  link?: LinkProps
}

type DayBarsProps = {
  /** Describes the chart. */
  title: string
  /** The days, oldest first. */
  days: DayBar[]
  /** The kinds to stack, starting at the bottom. By default, all kinds of results. */
  of?: Look[]
  height?: number
  /** The label for a bar that is not a day. */
  point?: string
}

/** Shows stacked bars of counts by day. */
export const DayBars = ({
  title,
  days,
  of = ['affected', 'clear', 'unscored', 'failed'],
  height = 160,
  point,
}: DayBarsProps) => {
  const hatch = useId()
  const nameOf = (look: Look) => looks[look]
  const totalOf = ({ counts }: DayBar) => of.reduce((sum, look) => sum + (counts[look] ?? 0), 0)
  const marks = ({ width }: Plot): Mark[] => {
    const x = timeScale(days, width)
    return days.map((day) => ({
      key: day.start,
      x: startOf(x, day),
      width: widthOf(x, day),
      head: longTime(day),
      link: day.link,
      lines: of.map((look) => `${formatCount(day.counts[look] ?? 0)} ${nameOf(look).toLowerCase()}`),
    }))
  }
  const table = {
    head: ['From', ...of.map(nameOf)],
    rows: days.map((day) => [longTime(day), ...of.map((look) => formatCount(day.counts[look] ?? 0))]),
  }
  return (
    <Frame
      title={title}
      table={table}
      points={days.filter((day) => totalOf(day) > 0).length}
      {...(point && { point })}
      height={height}
      legend={of.length > 1 && <Legend of={of} nameOf={nameOf} />}
      marks={marks}
    >
      {(plot) => {
        const x = timeScale(days, plot.width)
        const y = valueScale([0, Math.max(1, ...days.map(totalOf))], plot.height)
        return (
          <>
            <Hatch id={hatch} />
            <ValueAxis scale={y} width={plot.width} format={(value) => (value % 1 === 0 ? formatShort(value) : '')} />
            <TimeAxis spans={days} scale={x} plot={plot} />
            {days.map((day) => (
              <Bar
                key={day.start}
                day={day}
                of={of}
                hatch={hatch}
                x={startOf(x, day)}
                width={widthOf(x, day)}
                y={y}
                isActive={day.start === plot.active}
              />
            ))}
          </>
        )
      }}
    </Frame>
  )
}

type BarProps = {
  day: DayBar
  of: Look[]
  hatch: string
  x: number
  width: number
  y: (value: number) => number
  isActive: boolean
}

const Bar = ({ day, of, hatch, x, width, y, isActive }: BarProps) => {
  const gap = Math.min(3, width * 0.15)
  let below = 0
  return (
    <g className={isActive ? styles.activeBar : undefined}>
      {of.map((look) => {
        const count = day.counts[look] ?? 0
        const [from, to] = [y(below), y(below + count)]
        below += count
        if (count === 0) return null
        const inset = look === 'failed' ? 0.75 : 0
        return (
          <rect
            key={look}
            className={styles[`${look}Bar`]}
            {...(look === 'unscored' && { fill: `url(#${hatch})` })}
            x={x + gap / 2 + inset}
            width={Math.max(1, width - gap - 2 * inset)}
            y={to + inset}
            height={Math.max(1, from - to - 2 * inset)}
          />
        )
      })}
    </g>
  )
}
