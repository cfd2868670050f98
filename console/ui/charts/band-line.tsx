// biome-ignore-all lint/a11y/noAriaHiddenOnFocusable: a <g> takes no focus

import type { LinkProps } from '@tanstack/react-router'
import { area, line } from 'd3-shape'
import { useId } from 'react'
import { formatPercent } from '../../lib/format.ts'
import { TimeAxis, ValueAxis } from './axes.tsx'
import styles from './charts.module.css'
import { Frame, type Mark, type Plot } from './frame.tsx'
import { type BandPoint, extentOf, tableOfPoints, wordsOf } from './points.ts'
import { isWithin, longTime, middleOf, percentTick, placeOf, startOf, timeScale, valueScale, widthOf } from './scale.ts'
import { SpikeMarks, Verticals } from './verticals.tsx'

export type Vertical = { at: string; label: string }
export type Spike = { id: string; at: string; label: string; link?: LinkProps }

export type BandLineProps = {
  /** Describes the chart. */
  title: string
  /** The points, oldest first. */
  points: BandPoint[]
  /** The measured quantity, such as "Affected", shown in the tooltip and the table. */
  valueName: string
  /** Formats a value. By default, values are shares, which are shown as percentages. */
  format?: (value: number) => string
  formatTick?: (value: number) => string
  /** The minimum range of the axis, such as [0, 1]. By default, the axis starts at 0. */
  domain?: [number, number]
  /** A horizontal reference line, such as an expected value. */
  reference?: { value: number; label: string }
  /** Vertical markers, such as new versions. */
  verticals?: Vertical[]
  spikes?: Spike[]
  tone?: 'affected' | 'accent' | 'plain'
  height?: number
  /** The label for a point that is not a day. */
  point?: string
}

/** Shows a line chart with a band for the interval. */
export const BandLine = ({
  title,
  points,
  valueName,
  format = formatPercent,
  formatTick = percentTick,
  domain = [0, 0],
  reference,
  verticals = [],
  spikes = [],
  tone = 'affected',
  height = 200,
  point,
}: BandLineProps) => {
  const clip = useId()
  const known = points.filter(({ value }) => value !== null)
  const extent = extentOf(points, [...domain, ...(reference ? [reference.value] : [])])
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
  const isAlone = (at: BandPoint) => {
    const index = points.indexOf(at)
    return points[index - 1]?.value == null && points[index + 1]?.value == null
  }
  const hasRoom = ({ width }: Plot) => width / points.length > 14
  const table = tableOfPoints(points, valueName, format)
  return (
    <Frame
      title={title}
      table={table}
      points={known.length}
      {...(point && { point })}
      height={height}
      marks={marks}
      above={({ width, height: foot }) => {
        const x = timeScale(points, width)
        const seen = spikes.filter(({ at }) => isWithin(points, at))
        return <SpikeMarks spikes={seen.map(({ at, ...spike }) => ({ ...spike, x: placeOf(x, at) }))} height={foot} />
      }}
    >
      {(plot) => {
        const x = timeScale(points, plot.width)
        const y = valueScale(extent, plot.height)
        const band = area<BandPoint>(
          (at) => middleOf(x, at),
          (at) => y(at.low ?? 0),
          (at) => y(at.high ?? 0),
        ).defined(({ low, high }) => low != null && high != null)
        const course = line<BandPoint>(
          (at) => middleOf(x, at),
          (at) => y(at.value ?? 0),
        ).defined(({ value }) => value !== null)
        return (
          <g className={styles[tone]}>
            <clipPath id={clip}>
              <rect width={plot.width} height={plot.height} />
            </clipPath>
            <ValueAxis scale={y} width={plot.width} format={formatTick} />
            <TimeAxis spans={points} scale={x} plot={plot} />
            <g clipPath={`url(#${clip})`}>
              <path className={styles.band} d={band(points) ?? ''} />
            </g>
            {reference && (
              <g aria-hidden="true">
                <line className={styles.reference} x2={plot.width} y1={y(reference.value)} y2={y(reference.value)} />
                <text
                  className={`${styles.tick} ${styles.end} ${styles.haloed}`}
                  x={plot.width}
                  y={y(reference.value) - 5}
                >
                  {reference.label}
                </text>
              </g>
            )}
            <Verticals
              lines={verticals
                .filter(({ at }) => isWithin(points, at))
                .map(({ at, label }) => ({ x: placeOf(x, at), label }))}
              height={plot.height}
            />
            <path className={styles.line} d={course(points) ?? ''} />
            {known
              .filter((at) => at.start === plot.active || isAlone(at) || hasRoom(plot))
              .map((at) => (
                <circle
                  key={at.start}
                  className={styles.dot}
                  cx={middleOf(x, at)}
                  cy={y(at.value ?? 0)}
                  r={at.start === plot.active ? 4.5 : 2.25}
                />
              ))}
          </g>
        )
      }}
    </Frame>
  )
}
