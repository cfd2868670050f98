// Shows a board's charts in reading order. Members move charts by dragging, with the arrow keys, or in their menus.

import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { GripVertical } from 'lucide-react'
import { type DragEvent, type KeyboardEvent, type Ref, useId, useLayoutEffect, useRef, useState } from 'react'
import { queryClient } from '../api/queries.ts'
import { IconButton } from '../ui/button.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { FaultNote } from '../ui/states.tsx'
import { moved, widthNames, withWidth } from './arrange.ts'
import styles from './boards.module.css'
import { changeCharts, showBoard, showCharts } from './changes.ts'
import { type ChartAction, ChartCard } from './chart.tsx'
import { type Board, type Chart, type ChartInput, refreshBoards, type Shown } from './queries.ts'

type Change = { id: string; apply: <C extends ChartInput>(charts: C[]) => C[] }

/** Stores changes to the charts one after another, and shows them immediately. */
const useArrange = (boardId: string) => {
  const mutationKey = ['boards', boardId, 'arrange']
  return useMutation({
    mutationKey,
    scope: { id: mutationKey.join(' ') },
    mutationFn: ({ apply }: Change) => changeCharts(boardId, apply),
    onMutate: ({ apply }) => showCharts(boardId, apply<Chart>),
    onError: (_error, _change, before) => showBoard(boardId, before),
    // While other changes are waiting, the displayed charts are newer than the stored ones.
    onSettled: () => {
      if (queryClient.isMutating({ mutationKey }) === 1) {
        void queryClient.invalidateQueries({ queryKey: ['boards', boardId] })
      }
    },
  })
}

const steps: Record<string, number> = { ArrowUp: -1, ArrowLeft: -1, ArrowDown: 1, ArrowRight: 1 }

type HandleProps = { title: string; onMove: (by: number) => void; describedBy: string; ref: Ref<HTMLButtonElement> }

const Handle = ({ title, onMove, describedBy, ref }: HandleProps) => (
  <span className={styles.handle} data-no-picture>
    <IconButton
      ref={ref}
      label={`Move ${title}`}
      icon={<GripVertical />}
      aria-describedby={describedBy}
      onKeyDown={(event: KeyboardEvent) => {
        const step = steps[event.key]
        if (step === undefined) return
        event.preventDefault()
        onMove(step)
      }}
    />
  </span>
)

type GridProps = {
  board: Board
  shown: Shown
  mayChange: boolean
  isFull: boolean
  ref: Ref<HTMLDivElement>
}

export const ChartGrid = ({ board, shown, mayChange, isFull, ref }: GridProps) => {
  const { id: boardId, charts } = board
  const navigate = useNavigate()
  const arrange = useArrange(boardId)
  const [dragged, setDragged] = useState<string>()
  const [over, setOver] = useState<string>()
  const [removing, setRemoving] = useState<Chart>()
  const [said, setSaid] = useState('')
  const handles = useRef(new Map<string, HTMLButtonElement>())
  const focused = useRef<string>(undefined)
  const hint = useId()
  // The browser removes the focus from an element that moves in the document.
  useLayoutEffect(() => {
    if (focused.current !== undefined) handles.current.get(focused.current)?.focus()
    focused.current = undefined
  })
  const move = (chart: Chart, to: number) => {
    if (to < 0 || to >= charts.length) return
    arrange.mutate({ id: chart.id, apply: (all) => moved(all, chart.id, to) })
    setSaid(`${chart.title} moved to position ${to + 1} of ${charts.length}`)
  }
  const actionsOf = (chart: Chart, at: number): ChartAction[] => [
    {
      label: 'Edit chart',
      onSelect: () => void navigate({ to: '/boards/$id/charts/$chartId', params: { id: boardId, chartId: chart.id } }),
    },
    ...(at > 0 ? [{ label: 'Move earlier', onSelect: () => move(chart, at - 1) }] : []),
    ...(at < charts.length - 1 ? [{ label: 'Move later', onSelect: () => move(chart, at + 1) }] : []),
    ...widthNames
      .filter(({ value }) => value !== chart.width)
      .map(({ value, label }) => ({
        label: `Width: ${label.toLowerCase()}`,
        onSelect: () => arrange.mutate({ id: chart.id, apply: (all) => withWidth(all, chart.id, value) }),
      })),
    { label: 'Remove chart', danger: true, onSelect: () => setRemoving(chart) },
  ]
  const drop = (to: number) => {
    const chart = charts.find(({ id }) => id === dragged)
    setDragged(undefined)
    setOver(undefined)
    if (chart) move(chart, to)
  }
  return (
    <>
      {arrange.error && <FaultNote error={arrange.error} />}
      <p className={styles.hidden} role="status">
        {said}
      </p>
      <p className={styles.hidden} id={hint}>
        Drag, or press the arrow keys.
      </p>
      <div ref={ref} className={isFull ? `${styles.charts} ${styles.fullScreen}` : styles.charts}>
        {charts.map((chart, at) => (
          // biome-ignore lint/a11y/noStaticElementInteractions: charts are moved with their handles
          <div
            key={chart.id}
            className={[styles.cell, styles[chart.width], over === chart.id && styles.over].filter(Boolean).join(' ')}
            onDragOver={(event) => {
              if (dragged === undefined) return
              event.preventDefault()
              setOver(chart.id)
            }}
            onDrop={(event) => {
              event.preventDefault()
              drop(at)
            }}
          >
            <ChartCard
              chart={chart}
              shown={shown}
              {...(mayChange &&
                !isFull && {
                  handle: (
                    <Handle
                      ref={(element) => {
                        if (element) handles.current.set(chart.id, element)
                        else handles.current.delete(chart.id)
                      }}
                      title={chart.title}
                      describedBy={hint}
                      onMove={(by) => {
                        focused.current = chart.id
                        move(chart, at + by)
                      }}
                    />
                  ),
                  drag: {
                    onDragStart: (event: DragEvent) => {
                      event.dataTransfer.effectAllowed = 'move'
                      event.dataTransfer.setData('text/plain', chart.title)
                      const card = event.currentTarget.closest('section')
                      if (card) event.dataTransfer.setDragImage(card, 20, 20)
                      setDragged(chart.id)
                    },
                    onDragEnd: () => {
                      setDragged(undefined)
                      setOver(undefined)
                    },
                  },
                  actions: actionsOf(chart, at),
                })}
            />
          </div>
        ))}
      </div>
      <Confirm
        title={`Remove “${removing?.title}”?`}
        action="Remove chart"
        open={removing !== undefined}
        onClose={() => setRemoving(undefined)}
        run={async () => {
          await changeCharts(boardId, (all) => all.filter(({ id }) => id !== removing?.id))
          await refreshBoards()
        }}
      >
        This removes the chart for everyone in your organization.
      </Confirm>
    </>
  )
}
