import { useList } from '../api/queries.ts'
import styles from './sound-layer.module.css'
import { regionsOptions, type Sound } from './sound-queries.ts'
import { slowMs } from './timeline.ts'

type Span = { startMs: number; endMs: number }

/** The size of the drawing, with one lane per side. */
type Size = { width: number; lane: number }

type SoundLayerProps = Size & {
  id: string
  sound: Sound
  /** The recording's length in seconds. */
  length: number
  /** The channel in the upper lane. */
  upper: number
}

/** Thin bands at the outer edges show speech, and the middle shows events between the speakers. */
const [speechHeight, gapHeight] = [3, 4]

const faults = new Set<Sound['marks'][number]['kind']>(['clipping', 'dropout', 'packet_gap', 'cut_off'])

/** Draws sound measures over a waveform: speech, slow responses, talk-over, and marks. Also draws marked regions. */
export const SoundLayer = ({ id, sound, length, upper, width, lane }: SoundLayerProps) => {
  const { rows = [] } = useList(regionsOptions(id))
  const seconds = (ms: number) => (ms / 1_000 / length) * width
  const across = ({ startMs, endMs }: Span, least = 1) => ({
    x: seconds(startMs),
    width: Math.max(least, seconds(endMs - startMs)),
  })
  const isOne = sound.channels === 1
  const topOf = (channel: number) => (channel === upper ? 0 : lane)
  const within = (channel: number | null) =>
    isOne || channel === null ? { y: 0, height: 2 * lane } : { y: topOf(channel), height: lane }
  return (
    <g>
      {rows.map((region) => (
        <rect key={region.id} className={styles.region} {...across(region, 2)} {...within(region.channel)} />
      ))}
      {sound.redacted?.map((span) => (
        <rect
          key={`redacted ${span.startMs}`}
          className={styles.redacted}
          {...across(span, 2)}
          y={0}
          height={2 * lane}
        />
      ))}
      {sound.talkOver.map((span) => (
        <rect key={`talk ${span.startMs}`} className={styles.talkOver} {...across(span)} y={0} height={2 * lane} />
      ))}
      {sound.gaps
        .filter(({ startMs, endMs }) => endMs - startMs > slowMs)
        .map((gap) => (
          <rect
            key={`gap ${gap.startMs}`}
            className={styles.gap}
            {...across(gap)}
            y={lane - gapHeight / 2}
            height={gapHeight}
          />
        ))}
      {sound.segments.map((span) => (
        <rect
          key={`speech ${span.channel} ${span.startMs}`}
          className={styles.speech}
          {...across(span)}
          y={topOf(span.channel) === 0 ? 0 : 2 * lane - speechHeight}
          height={speechHeight}
        />
      ))}
      {sound.marks.map((mark) => (
        <rect
          key={`${mark.kind} ${mark.channel} ${mark.startMs}`}
          className={faults.has(mark.kind) ? styles.fault : styles.signal}
          {...across(mark, 2)}
          {...within(mark.channel)}
        />
      ))}
    </g>
  )
}
