import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { formatMs, formatNumber, formatPercent, plural } from '../lib/format.ts'
import { Facts, Section } from '../ui/page.tsx'
import { Loading } from '../ui/states.tsx'
import styles from './aside.module.css'
import { Refused } from './attached.tsx'
import { BothSides, show } from './both-sides.tsx'
import { LatencyWaterfall } from './latency-waterfall.tsx'
import { PlayFrom } from './play-from.tsx'
import { Redacted } from './redacted.tsx'
import { type Sound, soundOptions } from './sound-queries.ts'

type Measures = NonNullable<Sound['measures']>
type Span = { startMs: number; endMs: number }

const formatDb = (value: number): string => `${formatNumber(value)} dB`
const formatLufs = (value: number): string => `${formatNumber(value)} LUFS`

const lengthOf = ({ startMs, endMs }: Span): number => endMs - startMs

const longestOf = <T extends Span>(spans: T[]): T | undefined => spans.toSorted((a, b) => lengthOf(b) - lengthOf(a))[0]

const nameOf = (channel: number, { agent, customer }: Sound['speakers']): string => {
  if (channel === agent) return 'Agent'
  return channel === customer ? 'Customer' : `Channel ${channel + 1}`
}

type Kind = Sound['marks'][number]['kind']

const markNames: Record<Kind, string> = {
  clipping: 'Clipping',
  dropout: 'Dropout',
  packet_gap: 'Packet gap',
  dtmf: 'Keypad tone',
  tone: 'Tone',
  beep: 'Beep',
  hold_music: 'Hold music',
  cut_off: 'Cut off',
}

const kinds = Object.keys(markNames) as Kind[]

/** Shows the longest mark of a kind, and the number of such marks. */
const WorstMark = ({ kind, sound: { marks, speakers } }: { kind: Kind; sound: Sound }) => {
  const all = marks.filter((mark) => mark.kind === kind)
  const worst = longestOf(all)
  if (!worst) return null
  const what = worst.digits === null ? formatMs(lengthOf(worst)) : worst.digits
  return (
    <li>
      <PlayFrom ms={worst.startMs}>
        {markNames[kind]}, {nameOf(worst.channel, speakers)}, {what}
        {all.length > 1 && `, and ${plural(all.length - 1, 'more place')}`}
        {worst.confidence !== null && `, ${formatPercent(worst.confidence)} confidence`}
      </PlayFrom>
    </li>
  )
}

/** Lists the worst occurrence for each measure, with a button that plays it. */
const Places = ({ sound }: { sound: Sound }) => {
  const { gaps, talkOver, marks, speakers } = sound
  const slowest = longestOf(gaps)
  const longest = longestOf(talkOver)
  if (!slowest && !longest && marks.length === 0) return null
  return (
    <ul className={styles.evidence}>
      {slowest && (
        <li>
          <PlayFrom ms={slowest.startMs}>
            {nameOf(slowest.channel, speakers)} responds after {formatMs(lengthOf(slowest))}
          </PlayFrom>
        </li>
      )}
      {longest && (
        <li>
          <PlayFrom ms={longest.startMs}>
            {nameOf(longest.channel, speakers)} talks over the other for {formatMs(lengthOf(longest))}
          </PlayFrom>
        </li>
      )}
      {kinds.map((kind) => (
        <WorstMark key={kind} kind={kind} sound={sound} />
      ))}
    </ul>
  )
}

const Sides = ({ measures }: { measures: Measures }) => {
  const { responseMs, talkMs, interruptions, stopMs, speechDb, noiseDb, loudnessLufs, echoDb } = measures
  const medians = ({ agent, customer }: typeof responseMs) => ({
    agent: agent?.p50 ?? null,
    customer: customer?.p50 ?? null,
  })
  return (
    <BothSides
      heading="Measure"
      rows={[
        ['Response time, median', medians(responseMs), formatMs],
        ['Speech', talkMs, formatMs],
        ['Interruptions', interruptions, formatNumber],
        ['Time to stop when interrupted', medians(stopMs), formatMs],
        ['Speech level', speechDb, formatDb],
        ['Background level', noiseDb, formatDb],
        ['Loudness', loudnessLufs, formatLufs],
        ['Echo from other side', echoDb, formatDb],
      ]}
    />
  )
}

const reportedText = ({ reportedMs, differenceMs }: NonNullable<Sound['comparison']>): string => {
  if (differenceMs === 0) return `${formatMs(reportedMs)}, as measured`
  return `${formatMs(reportedMs)}, ${formatMs(Math.abs(differenceMs))} ${differenceMs > 0 ? 'less' : 'more'} than measured`
}

const Measured = ({ id, sound, measures }: { id: string; sound: Sound; measures: Measures }) => {
  const reasons = [...new Set(Object.values(sound.unmeasured))]
  return (
    <>
      {sound.speakers.by === 'unknown' ? (
        reasons.map((reason) => <p key={reason}>{reason}</p>)
      ) : (
        <Sides measures={measures} />
      )}
      <Places sound={sound} />
      <LatencyWaterfall id={id} sound={sound} />
      <div className={styles.gap}>
        <Facts
          facts={[
            ['Reported response time', sound.comparison && reportedText(sound.comparison)],
            ['Agent talk ratio', show(measures.talkRatio, formatPercent)],
            ['Talk-over', show(measures.talkOverMs, formatMs)],
            ['Longest silence', formatMs(measures.longestSilenceMs)],
            ['Loudness', show(measures.overallLoudnessLufs, formatLufs)],
            ['Peak level', formatDb(measures.peakDb)],
            ['Clipped samples', formatNumber(measures.clippedSamples)],
            ['Dropouts', formatNumber(measures.dropouts)],
          ]}
        />
      </div>
    </>
  )
}

/** Shows the measures of the recording. */
export const SoundPart = ({ id }: { id: string }) => {
  const { data: sound, error, refetch } = useQuery(soundOptions(id))
  const content = (): ReactNode => {
    if (error) return <Refused error={error} retry={() => void refetch()} />
    if (!sound) return <Loading />
    if (sound.measures) return <Measured id={id} sound={sound} measures={sound.measures} />
    return <p className={styles.none}>{sound.reason ?? 'The recording is being measured.'}</p>
  }
  return (
    <Section title="Sound">
      {content()}
      {sound?.redacted && <Redacted id={id} spans={sound.redacted} />}
    </Section>
  )
}
