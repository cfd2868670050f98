import { useQuery } from '@tanstack/react-query'
import { formatMs } from '../lib/format.ts'
import { pairLatencies, type TurnLatency } from './latencies.ts'
import styles from './latency-waterfall.module.css'
import { PlayFrom } from './play-from.tsx'
import { transcriptOptions } from './queries.ts'
import type { Sound } from './sound-queries.ts'

/** More turns would push the following content out of view. */
const mostTurns = 8

const kinds = new Map([
  ['end of turn', styles.endOfTurn],
  ['transcription', styles.transcription],
  ['model', styles.model],
  ['voice', styles.voice],
])

const reportedText = ({ parts, reportedMs }: TurnLatency): string => {
  if (reportedMs === null) return 'not reported'
  const listed = parts.map(([name, ms]) => `${name} ${formatMs(ms)}`)
  return listed.length === 0
    ? `${formatMs(reportedMs)} reported`
    : `${formatMs(reportedMs)} reported: ${listed.join(', ')}`
}

const Bars = ({ latency, longestMs }: { latency: TurnLatency; longestMs: number }) => {
  const { parts, reportedMs, measuredMs } = latency
  const width = (ms: number) => ({ width: `${(ms / longestMs) * 100}%` })
  return (
    <span className={styles.bars} aria-hidden="true">
      <span className={styles.bar}>
        {parts.map(([name, ms]) => (
          <span key={name} className={kinds.get(name)} style={width(ms)} />
        ))}
        {parts.length === 0 && reportedMs !== null && <span className={styles.reported} style={width(reportedMs)} />}
      </span>
      <span className={styles.bar}>
        <span className={styles.measured} style={width(measuredMs)} />
      </span>
    </span>
  )
}

/** Shows the agent's slowest responses: the components reported by the provider, next to the measured times. */
export const LatencyWaterfall = ({ id, sound }: { id: string; sound: Sound }) => {
  const { data } = useQuery(transcriptOptions(id))
  const latencies = pairLatencies(data?.turns ?? [], sound)
  if (!latencies.some(({ reportedMs }) => reportedMs !== null)) return null
  const longestMs = Math.max(...latencies.flatMap(({ reportedMs, measuredMs }) => [reportedMs ?? 0, measuredMs]))
  const slowest = latencies.toSorted((a, b) => b.measuredMs - a.measuredMs).slice(0, mostTurns)
  return (
    <figure className={styles.waterfall}>
      <figcaption>Slowest responses, reported above measured</figcaption>
      <ul>
        {slowest.map((latency) => (
          <li key={latency.turn}>
            <PlayFrom ms={latency.startMs}>
              <span className={styles.row}>
                <Bars latency={latency} longestMs={longestMs} />
                <span className={styles.words}>
                  {formatMs(latency.measuredMs)} measured, {reportedText(latency)}
                </span>
              </span>
            </PlayFrom>
          </li>
        ))}
      </ul>
    </figure>
  )
}
