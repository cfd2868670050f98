import { memo, useCallback, useEffect, useMemo, useRef } from 'react'
import { Empty } from '../ui/states.tsx'
import { useClock } from './clock.ts'
import { Raw } from './raw.tsx'
import { type Band, bandAt, type Line, linesOf, type Mark, type Turn, turnsOf, waitsOf } from './timeline.ts'
import styles from './transcript.module.css'
import { AsideLine, type LineContext, Message, Overlap, ToolLine } from './turn-lines.tsx'
import type { Player } from './use-player.ts'

type RowProps = LineContext & { line: Line; current: number | undefined; marked: number | undefined }

/** One line. Renders again only when it starts or stops being played or marked. */
const Row = memo(({ line, current, marked, ...said }: RowProps) => {
  const turns = turnsOf(line)
  const [first] = turns
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the player's keys move between turns
    <li
      className={styles.row}
      data-turn={first?.index}
      data-current={turns.some(({ index }) => index === current) ? '' : undefined}
      data-marked={turns.some(({ index }) => index === marked) ? '' : undefined}
      onClick={({ target }) => {
        // A click that selected text, expanded a line, or followed a link must not seek.
        if (!getSelection()?.isCollapsed || (target as Element).closest('summary, a, button, details')) return
        const own = (target as Element).closest<HTMLElement>('[data-said]')?.dataset.said
        said.onTurn(own === undefined ? (first?.index ?? 0) : Number(own))
      }}
    >
      {line.kind === 'message' && <Message turn={line.turn} speaker={line.speaker} {...said} />}
      {line.kind === 'overlap' && <Overlap turns={line.turns} {...said} />}
      {line.kind === 'tool' && <ToolLine call={line.call} result={line.result} {...said} />}
      {line.kind === 'aside' && <AsideLine turn={line.turn} {...said} />}
    </li>
  )
})

/** Scrolls to the turn being played unless the user scrolls, and always after a jump. */
const useFollowing = (current: number | undefined, marked: number | undefined, player: Player) => {
  const list = useRef<HTMLOListElement>(null)
  const scrolledAt = useRef(0)
  const show = useCallback((turn: number, always: boolean) => {
    const row =
      list.current?.querySelector(`[data-turn="${turn}"]`) ??
      list.current?.querySelector(`[data-said="${turn}"]`)?.closest('li')
    if (!row || (!always && performance.now() - scrolledAt.current < 4_000)) return
    const bring = () => row.scrollIntoView({ block: 'center' })
    bring()
    // Rows outside the window only get their height at this point.
    requestAnimationFrame(bring)
  }, [])
  useEffect(() => {
    if (current !== undefined && player.playing) show(current, false)
  }, [current, player.playing, show])
  useEffect(() => {
    if (marked !== undefined) show(marked, true)
  }, [marked, show])
  useEffect(() => {
    const noteScroll = () => {
      scrolledAt.current = performance.now()
    }
    const element = list.current
    element?.addEventListener('wheel', noteScroll, { passive: true })
    element?.addEventListener('touchmove', noteScroll, { passive: true })
    return () => {
      element?.removeEventListener('wheel', noteScroll)
      element?.removeEventListener('touchmove', noteScroll)
    }
  }, [])
  return list
}

type TranscriptProps = {
  turns: Turn[]
  unreadable: string | null
  content: unknown
  bands: Band[]
  marks: Mark[]
  marked: number | undefined
  player: Player
  onTurn: (turn: number) => void
}

const none: Mark[] = []

export const Transcript = ({ turns, unreadable, content, bands, marks, marked, player, onTurn }: TranscriptProps) => {
  const lines = useMemo(() => linesOf(turns), [turns])
  const waits = useMemo(() => waitsOf(turns), [turns])
  const marksByTurn = useMemo(() => Map.groupBy(marks, ({ turn }) => turn), [marks])
  const heard = useClock(player.clock, (seconds) => (seconds > 0 ? bandAt(bands, seconds)?.index : undefined))
  const list = useFollowing(heard, marked, player)
  if (unreadable !== null) return <Raw why={unreadable} content={content} />
  if (turns.length === 0) {
    return (
      <div className={styles.nothing}>
        <Empty title="No transcript">
          <p>No transcript has been sent. You can still send one in a later update.</p>
        </Empty>
      </div>
    )
  }
  return (
    <ol ref={list} className={styles.transcript} aria-label="Turns">
      {lines.map((line) => {
        const own = turnsOf(line).map(({ index }) => index)
        return (
          <Row
            key={own[0]}
            line={line}
            current={heard !== undefined && own.includes(heard) ? heard : undefined}
            marked={marked !== undefined && own.includes(marked) ? marked : undefined}
            waits={waits}
            marks={own.some((index) => marksByTurn.has(index)) ? marks : none}
            onTurn={onTurn}
          />
        )
      })}
    </ol>
  )
}
