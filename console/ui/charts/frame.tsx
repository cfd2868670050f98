// Shows the frame of every chart: a title, axes, a tooltip at the active point, and the same data as a table.

import { Link, type LinkProps } from '@tanstack/react-router'
import { type KeyboardEvent, type ReactNode, useRef, useState } from 'react'
import { RenderLater } from '../render-later.tsx'
import { useWidth } from '../use-width.ts'
import styles from './charts.module.css'
import { AsTable, ChartRows, type ChartTable } from './rows.tsx'

/** The size of the drawing area in pixels, and the key of the active point. */
export type Plot = { width: number; height: number; active: string | undefined }

/** A point in the chart that can be hovered over or reached by keyboard. */
export type Mark = {
  key: string
  x: number
  width: number
  /** The first line of the tooltip, and the lines below it. */
  head: string
  lines: string[]
  /** Opens the underlying conversations. */
  link?: LinkProps | undefined
}

type FrameProps = {
  /** Describes the chart. */
  title: string
  /** The same data as a table. */
  table: ChartTable
  /** The number of points. If there are too few to read, the chart shows a note. */
  points: number
  /** The term for a point. The default is "day". */
  point?: string
  height?: number
  legend?: ReactNode
  marks: (plot: Plot) => Mark[]
  children: (plot: Plot) => ReactNode
  /** Draws elements above the points, so that they can be clicked. */
  above?: (plot: Plot) => ReactNode
}

const margin = { top: 14, right: 10, bottom: 24, left: 46 }
const fewPoints = 5

export const Frame = ({
  title,
  table,
  points,
  point = 'day',
  height = 180,
  legend,
  marks: marksOf,
  children,
  above,
}: FrameProps) => {
  const box = useRef<HTMLDivElement>(null)
  const full = useWidth(box)
  const [asTable, setAsTable] = useState(false)
  const [active, setActive] = useState<string>()
  const plot = {
    width: Math.max(0, full - margin.left - margin.right),
    active,
    height: height - margin.top - margin.bottom,
  }
  const marks = plot.width > 0 && !asTable ? marksOf(plot) : []
  const shown = marks.find(({ key }) => key === active)
  return (
    <figure className={styles.figure}>
      <figcaption className={styles.caption}>
        <span className={styles.title}>{title}</span>
        {legend}
        <AsTable isOn={asTable} onChange={setAsTable} />
      </figcaption>
      {points > 0 && points < fewPoints && (
        <p className={styles.few}>
          Only {points} {point}
          {points === 1 ? '' : 's'} so far: too few to see a trend.
        </p>
      )}
      <div ref={box} className={styles.box}>
        {asTable && <ChartRows title={title} table={table} />}
        {!asTable && plot.width > 0 && (
          // biome-ignore lint/a11y/useSemanticElements: an SVG can't contain a fieldset
          <svg className={styles.svg} width={full} height={height} role="group" aria-label={title}>
            <g transform={`translate(${margin.left} ${margin.top})`}>
              {children(plot)}
              <RenderLater>
                <Marks marks={marks} height={plot.height} active={active} onActive={setActive} />
              </RenderLater>
              {above?.(plot)}
            </g>
          </svg>
        )}
        {shown && (
          <div
            className={styles.tip}
            aria-hidden="true"
            style={{
              top: margin.top,
              ...(shown.x + shown.width / 2 > plot.width / 2
                ? { right: full - margin.left - shown.x + 8 }
                : { left: margin.left + shown.x + shown.width + 8 }),
            }}
          >
            <strong>{shown.head}</strong>
            {shown.lines.map((line) => (
              <span key={line}>{line}</span>
            ))}
            {shown.link && <em>Press Enter or click to open</em>}
          </div>
        )}
      </div>
    </figure>
  )
}

const steps: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }

/** Draws the points. One of them is in the tab order, and the arrow keys move between them. */
const Marks = ({
  marks,
  height,
  active,
  onActive,
}: {
  marks: Mark[]
  height: number
  active: string | undefined
  onActive: (key: string | undefined) => void
}) => {
  const group = useRef<SVGGElement>(null)
  const [last, setLast] = useState<string>()
  const entry = marks.some(({ key }) => key === last) ? last : marks.at(-1)?.key
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && active !== undefined) {
      event.preventDefault()
      onActive(undefined)
      return
    }
    const step = steps[event.key]
    if (step === undefined) return
    event.preventDefault()
    const at = marks.findIndex(({ key }) => key === entry)
    const next = Math.min(marks.length - 1, Math.max(0, at + step))
    const element = group.current?.children[next]
    if (element instanceof SVGElement) element.focus()
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the handler only moves the focus between points
    <g ref={group} onKeyDown={onKeyDown}>
      {marks.map((mark) => (
        <Point
          key={mark.key}
          mark={mark}
          height={height}
          isEntry={mark.key === entry}
          onActive={(isActive) => onActive(isActive ? mark.key : undefined)}
          onFocus={() => setLast(mark.key)}
        />
      ))}
    </g>
  )
}

type PointProps = {
  mark: Mark
  height: number
  isEntry: boolean
  onActive: (isActive: boolean) => void
  onFocus: () => void
}

const Point = ({ mark: { x, width, head, lines, link }, height, isEntry, onActive, onFocus }: PointProps) => {
  const common = {
    className: styles.mark,
    tabIndex: isEntry ? 0 : -1,
    'aria-label': [head, ...lines].join(', '),
    onFocus: () => {
      onFocus()
      onActive(true)
    },
    onBlur: () => onActive(false),
    onPointerEnter: () => onActive(true),
    onPointerLeave: () => onActive(false),
  }
  const area = <rect x={x} y={0} width={Math.max(0, width)} height={height} />
  return link ? (
    <Link {...link} {...common}>
      {area}
    </Link>
  ) : (
    // biome-ignore lint/a11y/noInteractiveElementToNoninteractiveRole: the point has a label but no link
    <g role="img" {...common}>
      {area}
    </g>
  )
}
