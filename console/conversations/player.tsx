import { ChevronLeft, ChevronRight, Pause, Play } from 'lucide-react'
import { useState } from 'react'
import type { Schemas } from '../api/schema.d.ts'
import { useMay } from '../api/session.ts'
import { formatClock, plural } from '../lib/format.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { Select } from '../ui/controls.tsx'
import { useKeys } from '../ui/keys.tsx'
import { lazy } from '../ui/lazy.tsx'
import { useClock } from './clock.ts'
import styles from './player.module.css'
import { type Band, bandAt, type Mark } from './timeline.ts'
import { keepFocus } from './turn-lines.tsx'
import { type Player as Sound, speeds } from './use-player.ts'
import { Waveform } from './waveform.tsx'

const Spectrogram = lazy(async () => (await import('./spectrogram.tsx')).Spectrogram)

const step = 5
/** The initial length of a new region. */
const regionSeconds = 5

type Conversation = Schemas['Conversation']

/** Returns the reason why there is nothing to play. */
const silenceOf = ({ channel, recording }: Conversation, broken: boolean): string | undefined => {
  if (broken) return 'Your browser can’t play this recording.'
  if (recording?.status === 'pending') return 'Earshot is still fetching the recording.'
  if (recording?.status === 'processing') return 'Earshot is still processing the recording.'
  if (recording?.status === 'failed') return `The recording isn’t available. ${recording.failure ?? ''}`.trim()
  if (recording?.status === 'deleted') return 'The recording was deleted.'
  if (recording === null) return channel === 'chat' ? 'Chats have no recording.' : 'No recording.'
  return undefined
}

const Now = ({ player: { clock }, length }: { player: Sound; length: number }) => {
  const shown = useClock(clock, formatClock)
  return (
    <span className={styles.now}>
      {shown} <span>/ {formatClock(length)}</span>
    </span>
  )
}

type PlayerProps = {
  conversation: Conversation
  src: string | undefined
  player: Sound
  bands: Band[]
  marks: Mark[]
  length: number
  /** The index of the marked turn. */
  marked: number | undefined
  /** Seeks to a position, and marks a turn if one is given. */
  onSeek: (seconds: number, turn?: number) => void
  onTurn: (turn: number) => void
  /** Starts marking a region. */
  onRange: (from: number, to: number) => void
}

type Point = { seconds: number; turn: number }

/** Returns the times of the marks, without repeating any. */
const pointsOf = (marks: PlayerProps['marks']): Point[] =>
  marks
    .flatMap(({ seconds, turn }) => (seconds === null ? [] : [{ seconds, turn }]))
    .filter(({ seconds }, at, all) => seconds !== all[at - 1]?.seconds)

/** Returns the next point. A point that was just jumped to still counts as the current one for a moment. */
const nextPoint = (points: Point[], now: number, forward: boolean): Point | undefined =>
  forward ? points.find(({ seconds }) => seconds > now + 0.05) : points.findLast(({ seconds }) => seconds < now - 1)

// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: this is a list of controls, each with its condition
export const Player = ({ conversation, src, player, bands, marks, length, marked, ...on }: PlayerProps) => {
  const { onSeek, onTurn, onRange } = on
  const mayMark = useMay('member')
  const [showsSpectrogram, setShowsSpectrogram] = useState(false)
  const { clock, sounds, playing, broken } = player
  const current = useClock(clock, (seconds) => bandAt(bands, seconds)?.index)
  const silence = silenceOf(conversation, broken)
  const isTimed = length > 0
  const by = (seconds: number) => () => onSeek(Math.min(length, Math.max(0, clock.now() + seconds)))
  const jump = (points: Point[], forward: boolean) => {
    const next = nextPoint(points, clock.now(), forward)
    if (next) onSeek(next.seconds, next.turn)
  }
  const points = pointsOf(marks)
  /** Jumps to the previous or next turn. If some turns have no timestamp, jumps in turn order. */
  const jumpTurns = (forward: boolean) => {
    const from = marked ?? -1
    const next = forward ? marks.find(({ turn }) => turn > from) : marks.findLast(({ turn }) => turn < from)
    if (next) onTurn(next.turn)
  }
  const hasTimes = isTimed && marks.every(({ seconds }) => seconds !== null)
  const pointed = hasTimes ? points.length : new Set(marks.map(({ turn }) => turn)).size
  const toMark = (forward: boolean) => () => (hasTimes ? jump(points, forward) : jumpTurns(forward))
  const turns = bands.map(({ from, index }) => ({ seconds: from, turn: index }))
  const hasten = (by: number) => () => player.setSpeed(speeds[speeds.indexOf(player.speed) + by] ?? player.speed)
  useKeys({
    ...(sounds && {
      ' ': { does: 'Play or pause', run: player.toggle },
      '<': { does: 'Play slower', run: hasten(-1) },
      '>': { does: 'Play faster', run: hasten(1) },
    }),
    '[': { does: 'Previous mark', run: toMark(false) },
    ']': { does: 'Next mark', run: toMark(true) },
    ...(isTimed && {
      ArrowLeft: { does: 'Back 5 seconds', run: by(-step) },
      ArrowRight: { does: 'Forward 5 seconds', run: by(step) },
      ',': { does: 'Previous turn', run: () => jump(turns, false) },
      '.': { does: 'Next turn', run: () => jump(turns, true) },
    }),
  })
  return (
    <section className={styles.player} aria-label="Player">
      {src !== undefined && (
        // biome-ignore lint/a11y/useMediaCaption: the transcript next to it follows the playback
        <audio ref={player.audio} src={src} preload="metadata" />
      )}
      {isTimed && (
        <div className={styles.wave}>
          <Waveform
            id={conversation.id}
            player={player}
            bands={bands}
            length={length}
            marks={marks}
            current={current}
            onSeek={onSeek}
            onRange={mayMark ? onRange : undefined}
            src={sounds && !broken ? src : undefined}
          />
          {showsSpectrogram && sounds && src !== undefined && <Spectrogram src={src} length={length} />}
        </div>
      )}
      <div className={styles.controls}>
        {sounds && (
          <button
            type="button"
            className={styles.play}
            aria-label={playing ? 'Pause' : 'Play'}
            title={playing ? 'Pause (space)' : 'Play (space)'}
            onClick={player.toggle}
          >
            {playing ? <Pause aria-hidden="true" /> : <Play aria-hidden="true" />}
          </button>
        )}
        {isTimed && <Now player={player} length={length} />}
        {silence && <span className={styles.silence}>{silence}</span>}
        {!isTimed && !silence && <span className={styles.silence}>No timestamps.</span>}
        {pointed > 0 && (
          <span className={styles.jumps}>
            <IconButton label="Previous mark" icon={<ChevronLeft />} onMouseDown={keepFocus} onClick={toMark(false)} />
            <span>{plural(pointed, 'mark')}</span>
            <IconButton label="Next mark" icon={<ChevronRight />} onMouseDown={keepFocus} onClick={toMark(true)} />
          </span>
        )}
        {isTimed && sounds && (
          <span className={styles.jumps}>
            <Button
              small
              look="quiet"
              aria-pressed={showsSpectrogram}
              onMouseDown={keepFocus}
              onClick={() => setShowsSpectrogram(!showsSpectrogram)}
            >
              Spectrogram
            </Button>
            {mayMark && (
              <Button
                small
                look="quiet"
                onClick={() => onRange(clock.now(), Math.min(length, clock.now() + regionSeconds))}
              >
                Mark region
              </Button>
            )}
          </span>
        )}
        {sounds && (
          <span className={styles.speed}>
            <Select
              aria-label="Playback speed"
              value={String(player.speed)}
              options={speeds.map((speed) => ({ value: String(speed), label: `${speed} ×` }))}
              onChange={({ target }) => player.setSpeed(Number(target.value))}
            />
          </span>
        )}
      </div>
    </section>
  )
}
