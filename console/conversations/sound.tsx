import { queryOptions, useQuery } from '@tanstack/react-query'
import { Play } from 'lucide-react'
import type { ReactNode } from 'react'
import { answer, api } from '../api/client.ts'
import type { Schemas } from '../api/schema.d.ts'
import { formatClock, formatMs, formatNumber, formatPercent, plural } from '../lib/format.ts'
import { Facts, Section } from '../ui/page.tsx'
import { Loading } from '../ui/states.tsx'
import styles from './aside.module.css'
import { Refused } from './attached.tsx'
import { BothSides, show } from './both-sides.tsx'
import { useStage } from './stage.tsx'
import { keepFocus } from './turn-lines.tsx'

type Sound = Schemas['Sound']
type Measures = NonNullable<Sound['measures']>
type Span = { startMs: number; endMs: number }

// Changes of the conversation also update its sound, because the key starts like that of the conversation.
const soundOptions = (id: string) =>
  queryOptions({
    queryKey: ['conversations', id, 'sound'],
    queryFn: ({ signal }) => answer(api.GET('/v1/conversations/{id}/sound', { params: { path: { id } }, signal })),
  })

const formatDb = (value: number): string => `${formatNumber(value)} dB`

/** Shows a value with a button that plays its place in the recording. */
const Place = ({ span: { startMs }, children }: { span: Span; children: ReactNode }) => {
  const { playFrom } = useStage()
  const seconds = startMs / 1_000
  return (
    <button type="button" onMouseDown={keepFocus} onClick={() => playFrom(Math.max(0, seconds - 1))}>
      <span className={styles.at}>
        <Play aria-hidden="true" /> {formatClock(seconds)}
      </span>
      {children}
    </button>
  )
}

const lengthOf = ({ startMs, endMs }: Span): number => endMs - startMs

const longestOf = <T extends Span>(spans: T[]): T | undefined => spans.toSorted((a, b) => lengthOf(b) - lengthOf(a))[0]

const nameOf = (channel: number, { agent, customer }: Sound['speakers']): string => {
  if (channel === agent) return 'Agent'
  return channel === customer ? 'Customer' : `Channel ${channel + 1}`
}

const markNames = { clipping: 'Clipping', dropout: 'Dropout' }
/** More marks would hide what is below them. */
const mostMarks = 5

/** Lists the worst places, each with a button that plays it. */
const Places = ({ sound: { gaps, talkOver, marks, speakers } }: { sound: Sound }) => {
  const slowest = longestOf(gaps)
  const longest = longestOf(talkOver)
  if (!slowest && !longest && marks.length === 0) return null
  return (
    <ul className={styles.evidence}>
      {slowest && (
        <li>
          <Place span={slowest}>
            {nameOf(slowest.channel, speakers)} responds after {formatMs(lengthOf(slowest))}
          </Place>
        </li>
      )}
      {longest && (
        <li>
          <Place span={longest}>
            {nameOf(longest.channel, speakers)} talks over the other for {formatMs(lengthOf(longest))}
          </Place>
        </li>
      )}
      {marks.slice(0, mostMarks).map((mark) => (
        <li key={`${mark.kind} ${mark.channel} ${mark.startMs}`}>
          <Place span={mark}>
            {markNames[mark.kind]}, {nameOf(mark.channel, speakers)}
          </Place>
        </li>
      ))}
      {marks.length > mostMarks && (
        <li className={styles.none}>and {plural(marks.length - mostMarks, 'more place')}</li>
      )}
    </ul>
  )
}

const Sides = ({ measures }: { measures: Measures }) => {
  const { responseMs, talkMs, interruptions, stopMs, speechDb, noiseDb } = measures
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
      ]}
    />
  )
}

const reportedText = ({ reportedMs, differenceMs }: NonNullable<Sound['comparison']>): string => {
  if (differenceMs === 0) return `${formatMs(reportedMs)}, as measured`
  return `${formatMs(reportedMs)}, ${formatMs(Math.abs(differenceMs))} ${differenceMs > 0 ? 'less' : 'more'} than measured`
}

const Measured = ({ sound, measures }: { sound: Sound; measures: Measures }) => {
  const reasons = [...new Set(Object.values(sound.unmeasured))]
  return (
    <>
      {sound.speakers.by === 'unknown' ? (
        reasons.map((reason) => <p key={reason}>{reason}</p>)
      ) : (
        <Sides measures={measures} />
      )}
      <Places sound={sound} />
      <div className={styles.gap}>
        <Facts
          facts={[
            ['Reported response time', sound.comparison && reportedText(sound.comparison)],
            ['Talk ratio of the agent', show(measures.talkRatio, formatPercent)],
            ['Talk-over', show(measures.talkOverMs, formatMs)],
            ['Longest silence', formatMs(measures.longestSilenceMs)],
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
    if (sound.measures) return <Measured sound={sound} measures={sound.measures} />
    return (
      <p className={styles.none}>
        {sound.status === 'unmeasurable' ? sound.reason : 'The recording is being measured.'}
      </p>
    )
  }
  return <Section title="Sound">{content()}</Section>
}
