import { useQuery } from '@tanstack/react-query'
import { type PointerEvent, useEffect, useMemo, useState } from 'react'
import { formatClock } from '../lib/format.ts'
import { lazy } from '../ui/lazy.tsx'
import { useClock } from './clock.ts'
import { type Peaks, peaksOptions } from './peaks.ts'
import { type Sound, soundOptions } from './sound-queries.ts'
import type { Band, Mark } from './timeline.ts'
import type { Player } from './use-player.ts'
import styles from './waveform.module.css'

const SoundLayer = lazy(async () => (await import('./sound-layer.tsx')).SoundLayer)

const width = 1_000
const lane = 30

type Side = 'agent' | 'customer'
const sideOf = (role: Band['role']): Side => (role === 'agent' || role === 'human_agent' ? 'agent' : 'customer')

/** Returns the agent's channel: the one that is loud while the agent speaks. */
const agentChannel = ({ channels, seconds }: Peaks, bands: Band[]): number => {
  const loudness = channels.map((peaks) =>
    bands
      .filter(({ role }) => sideOf(role) === 'agent')
      .reduce((sum, { from, to }) => {
        const at = (second: number) => Math.floor((second / seconds) * peaks.length)
        return sum + peaks.slice(at(from), at(to)).reduce((all, peak) => all + peak, 0)
      }, 0),
  )
  return (loudness[1] ?? 0) > (loudness[0] ?? 0) ? 1 : 0
}

/** Returns a closed path around the middle of a lane. */
const shapeOf = (peaks: number[], share: number, top: number, height: number): string => {
  const step = (width * share) / peaks.length
  const middle = top + height / 2
  const edge = (sign: number) =>
    peaks.map(
      (peak, at) => `${(at * step).toFixed(1)} ${(middle + sign * Math.max(0.4, (peak * height) / 2)).toFixed(1)}`,
    )
  return `M${edge(-1).join('L')}L${edge(1).reverse().join('L')}Z`
}

/** Returns the measured waveform, as a share of the loudest part. */
const measuredPeaks = ({ waveform, durationMs }: Sound): Peaks | null => {
  if (waveform.length === 0 || durationMs === null) return null
  const loudest = Math.max(0.001, ...waveform.flat())
  return { channels: waveform.map((parts) => parts.map((part) => part / loudest)), seconds: durationMs / 1_000 }
}

type ShapesProps = { peaks: Peaks; upper: number; length: number }

const Shapes = ({ peaks, upper, length }: ShapesProps) => {
  const shapes = useMemo(() => {
    const share = Math.min(1, peaks.seconds / length)
    const [first, second] = peaks.channels
    if (first && !second) return [{ side: 'both', shape: shapeOf(first, share, 0, lane * 2) }]
    return [
      { side: 'agent', shape: shapeOf(peaks.channels[upper] ?? [], share, 0, lane) },
      { side: 'customer', shape: shapeOf(peaks.channels[1 - upper] ?? [], share, lane, lane) },
    ]
  }, [peaks, upper, length])
  return shapes.map(({ side, shape }) => <path key={side} className={styles[side]} d={shape} />)
}

const Cursor = ({ player, length }: { player: Player; length: number }) => {
  const place = useClock(player.clock, (seconds) => Math.min(100, (seconds / length) * 100).toFixed(2))
  return <span className={styles.cursor} style={{ left: `${place}%` }} />
}

const Bands = ({ player, bands, length, current }: WaveformProps & { current: number | undefined }) =>
  bands.map(({ index, role, from, to }) => (
    <rect
      key={index}
      className={`${styles.band} ${styles[sideOf(role)]}`}
      data-current={index === current && player.clock.now() > 0 ? '' : undefined}
      x={(from / length) * width}
      width={Math.max(1, ((to - from) / length) * width)}
      y={sideOf(role) === 'agent' ? 0 : lane}
      height={lane}
    />
  ))

/** Returns whether the reader has stayed for a moment. Moving through a list must not download every recording. */
const useIsStaying = (): boolean => {
  const [stays, setStays] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setStays(true), 400)
    return () => clearTimeout(timer)
  }, [])
  return stays
}

type WaveformProps = { player: Player; bands: Band[]; length: number }

type Props = WaveformProps & {
  /** The conversation's ID. */
  id: string
  src: string | undefined
  marks: Mark[]
  current: number | undefined
  onSeek: (seconds: number) => void
  /** A span was selected, in seconds. Undefined if the person can't mark any. */
  onRange: ((from: number, to: number) => void) | undefined
}

/**
 * Returns the recording's sound measures and its waveform. If the recording can't be measured, the browser computes the
 * waveform.
 */
const useSound = (id: string, src: string | undefined, length: number) => {
  const { data: sound } = useQuery({ ...soundOptions(id), enabled: src !== undefined })
  const measured = useMemo(() => (sound ? measuredPeaks(sound) : null), [sound])
  const { data: decoded } = useQuery(peaksOptions(sound?.status === 'unmeasurable' ? src : undefined, length))
  return { sound: measured ? sound : undefined, peaks: measured ?? decoded }
}

/** Shows the conversation's timeline: who speaks when, both waveforms, and the monitors' evidence above them. */
export const Waveform = ({ id, player, bands, length, src, marks, current, onSeek, onRange }: Props) => {
  const stays = useIsStaying()
  const { sound, peaks } = useSound(id, stays ? src : undefined, length)
  const upper = useMemo(() => sound?.speakers.agent ?? (peaks ? agentChannel(peaks, bands) : 0), [sound, peaks, bands])
  const [start, setStart] = useState<number>()
  const [end, setEnd] = useState(0)
  const second = useClock(player.clock, Math.floor)
  const secondsAt = (event: PointerEvent<HTMLDivElement>): number => {
    const { left, width: wide } = event.currentTarget.getBoundingClientRect()
    return Math.min(length, Math.max(0, ((event.clientX - left) / wide) * length))
  }
  const follow = (event: PointerEvent<HTMLDivElement>) => {
    if (start === undefined) onSeek(secondsAt(event))
    else setEnd(secondsAt(event))
  }
  const finish = () => {
    if (start !== undefined && start !== end) onRange?.(Math.min(start, end), Math.max(start, end))
    setStart(undefined)
  }
  return (
    <div
      className={styles.waveform}
      role="slider"
      tabIndex={0}
      aria-label="Playback position"
      aria-valuemin={0}
      aria-valuemax={Math.ceil(length)}
      aria-valuenow={Math.min(second, Math.ceil(length))}
      aria-valuetext={`${formatClock(second)} of ${formatClock(length)}`}
      onPointerDown={(event) => {
        if (event.button !== 0) return
        event.currentTarget.setPointerCapture(event.pointerId)
        if (!event.shiftKey || src === undefined || !onRange) return onSeek(secondsAt(event))
        setStart(secondsAt(event))
        setEnd(secondsAt(event))
      }}
      onPointerMove={(event) => event.currentTarget.hasPointerCapture(event.pointerId) && follow(event)}
      onPointerUp={finish}
      onPointerCancel={() => setStart(undefined)}
    >
      <div className={styles.marks} aria-hidden="true">
        {marks.map(
          ({ turn, seconds, monitorId, quote, affected }) =>
            seconds !== null && (
              <span
                key={`${monitorId} ${turn} ${quote}`}
                className={affected ? styles.affected : styles.mark}
                style={{ left: `${(seconds / length) * 100}%` }}
              />
            ),
        )}
      </div>
      <svg
        viewBox={`0 0 ${width} ${lane * 2}`}
        preserveAspectRatio="none"
        aria-hidden="true"
        data-silent={src === undefined ? '' : undefined}
      >
        <Bands player={player} bands={bands} length={length} current={current} />
        {peaks && <Shapes peaks={peaks} upper={upper} length={length} />}
        {sound && <SoundLayer id={id} sound={sound} length={length} upper={upper} width={width} lane={lane} />}
        {start !== undefined && (
          <rect
            className={styles.range}
            x={(Math.min(start, end) / length) * width}
            width={(Math.abs(end - start) / length) * width}
            height={lane * 2}
          />
        )}
      </svg>
      <Cursor player={player} length={length} />
    </div>
  )
}
