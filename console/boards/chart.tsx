// Shows one chart of a board with its actions.

import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Ellipsis } from 'lucide-react'
import { type DragEvent, type ReactNode, useRef, useState } from 'react'
import { searchOfChart } from '../compare/sides.ts'
import { ownZone } from '../lib/zones.ts'
import { announce } from '../ui/announce.tsx'
import { IconButton } from '../ui/button.tsx'
import { lazy } from '../ui/lazy.tsx'
import { Menu } from '../ui/menu.tsx'
import { FaultNote, Loading } from '../ui/states.tsx'
import styles from './boards.module.css'
import { csvOf } from './csv.ts'
import { Drawing } from './drawings.tsx'
import { type ChartInput, chartOptions, filterOfChart, type Shown } from './queries.ts'
import { saveFile } from './save-file.ts'

const WhatChanged = lazy(async () => (await import('./what-changed.tsx')).WhatChanged)

/** Downloads an element of the page as an image. The code is only loaded for this. */
export const savePicture = async (element: HTMLElement | null, name: string): Promise<void> => {
  if (!element) return
  try {
    const { pictureOf } = await import('./picture.ts')
    saveFile(`${name}.png`, await pictureOf(element))
  } catch {
    announce('The image could not be created', 'Reload the page and try again.')
  }
}

export type ChartAction = { label: string; onSelect: () => void; danger?: boolean }

type ChartCardProps = {
  chart: ChartInput
  shown: Shown
  /** Appears after the title, such as a handle. */
  handle?: ReactNode
  drag?: { onDragStart: (event: DragEvent) => void; onDragEnd: () => void }
  /** Members' actions, in addition to downloads. */
  actions?: ChartAction[]
}

/** Shows a chart in its frame. The previous answer stays visible while the period changes. */
export const ChartCard = ({ chart, shown, handle, drag, actions = [] }: ChartCardProps) => {
  const card = useRef<HTMLElement>(null)
  const { data, error, refetch, isFetching } = useQuery({
    ...chartOptions(chart, shown),
    placeholderData: (previous) => previous,
  })
  const [isExplained, setIsExplained] = useState(false)
  const navigate = useNavigate()
  const { title } = chart
  const filter = filterOfChart(chart, shown)
  const explain =
    filter.period || filter.since ? [{ label: 'What changed?', onSelect: () => setIsExplained(true) }] : []
  const compare = () => {
    const { groupBy } = chart.query
    const drawn = { groupBy, groups: data?.groups ?? [], filter, compareTo: shown.compareTo }
    void navigate({ to: '/compare', search: searchOfChart(drawn, ownZone()) })
  }
  const downloads = data
    ? [
        {
          label: 'Download CSV',
          onSelect: () => saveFile(`${title}.csv`, new Blob([csvOf(chart, data)], { type: 'text/csv;charset=utf-8' })),
        },
        { label: 'Download PNG', onSelect: () => void savePicture(card.current, title) },
      ]
    : []
  const entries = [
    ...explain,
    { label: 'Compare…', onSelect: compare },
    ...actions.filter(({ danger }) => !danger),
    ...downloads,
    ...actions.filter(({ danger }) => danger),
  ]
  return (
    <section ref={card} className={styles.card} aria-label={title} aria-busy={isFetching}>
      <div
        className={drag ? `${styles.head} ${styles.draggable}` : styles.head}
        draggable={drag !== undefined}
        {...drag}
      >
        <h2>{title}</h2>
        {handle}
        {entries.length > 0 && (
          <span className={styles.menu} data-no-picture>
            <Menu trigger={<IconButton label={`Actions for ${title}`} icon={<Ellipsis />} />} entries={entries} />
          </span>
        )}
      </div>
      {error && <FaultNote error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading lines={4} />}
      {data && <Drawing chart={chart} answer={data} filter={filter} />}
      {isExplained && <WhatChanged chart={chart} shown={shown} open onClose={() => setIsExplained(false)} />}
    </section>
  )
}
