import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { memo, useDeferredValue } from 'react'
import type { Analytics } from '../boards/queries.ts'
import { countOptions } from '../filters/count.ts'
import { intervalOf, rangeInWords, type TimeRange } from '../filters/range.ts'
import { RangePicker } from '../filters/range-picker.tsx'
import { sharedRange, useRange } from '../filters/use-range.ts'
import { ButtonLink } from '../ui/button.tsx'
import { lazy } from '../ui/lazy.tsx'
import { Page } from '../ui/page.tsx'
import { RenderLater } from '../ui/render-later.tsx'
import { Empty, FaultNote, Loading } from '../ui/states.tsx'
import { Attention, useFiring } from './attention.tsx'
import { useFailures } from './failures.tsx'
import { defaultRange, volumeOptions } from './figures.ts'
import { OpenFindings } from './open-findings.tsx'
import styles from './overview.module.css'
import { Rates, useRates } from './rates.tsx'
import { Reviews } from './reviews.tsx'
import { Running } from './running.tsx'
import { Volume } from './volume.tsx'

const Checklist = lazy(async () => (await import('../first-run/checklist.tsx')).Checklist)
const Newest = lazy(async () => (await import('./newest.tsx')).Newest)

const FirstRun = () => (
  <Empty
    title="No conversations yet"
    action={
      <ButtonLink look="primary" to="/start">
        Send your first conversation
      </ButtonLink>
    }
  >
    <p>
      Once conversations come in, this page shows your volume, monitor results, unusual changes, and open reviews and
      findings.
    </p>
  </Empty>
)

/** This is memoized, because every response that the overview waits for renders it again. */
const Parts = memo(({ isFirst }: { isFirst: boolean }) => (
  <div className={styles.parts}>
    <div>
      {isFirst && <Newest />}
      <OpenFindings />
    </div>
    <div>
      <Running />
      <Reviews />
    </div>
  </div>
))

/** Returns whether only the last interval has conversations, such as today. */
const isFirstOf = (answer: Analytics | undefined): boolean => {
  const [group] = answer?.groups ?? []
  const series = group?.series ?? []
  return (
    group !== undefined &&
    group.n > 0 &&
    (group.comparison?.n ?? 0) === 0 &&
    series.slice(0, -1).every(({ n }) => n === 0)
  )
}

/** Returns the page's period. On the first day, it is today by hour, unless a different one was selected. */
const useShown = () => {
  const search = useSearch({ from: '/app/' })
  const navigate = useNavigate({ from: '/' })
  const range = useRange({
    page: sharedRange,
    search,
    defaults: defaultRange(),
    navigate: (next) => void navigate({ search: next, replace: true, resetScroll: false }),
  })
  const { compare } = range
  const week = useQuery({ ...volumeOptions({ time: range.time, compare }), placeholderData: (before) => before })
  const isFirst = isFirstOf(week.data)
  const isFirstDay = isFirst && !range.isChanged
  const today: TimeRange = { period: { current: 'day', timezone: range.timezone } }
  const time = isFirstDay ? today : range.time
  const day = useQuery({ ...volumeOptions({ time: today, compare }), enabled: isFirstDay })
  return { range, time, compare, isFirst, volume: isFirstDay ? day : week }
}

export const Overview = () => {
  const { range, time, compare, isFirst, volume } = useShown()
  const rates = useRates({ time, compare })
  const failures = useFailures()
  const firing = useFiring()
  const { data, error, refetch } = volume
  const [group] = data?.groups ?? []
  // Conversations in other periods only matter if there are none in this one.
  const all = useQuery({ ...countOptions({}), enabled: group?.n === 0 })
  const isEmpty = group?.n === 0 && all.data?.count === 0
  const answer = useDeferredValue(data)
  // After rendering in small steps, everything appears at the same time, so that nothing moves while someone is
  // reading.
  const isReady = useDeferredValue(!rates.isPending && !failures.isPending && !firing.isPending)
  return (
    <Page
      title="Overview"
      actions={
        !isEmpty && <RangePicker time={time} timezone={range.timezone} compare={compare} onChange={range.choose} />
      }
    >
      {isEmpty ? (
        <FirstRun />
      ) : (
        <>
          <RenderLater>
            <Checklist />
          </RenderLater>
          {isReady && <Attention firing={firing.rows} failures={failures.rows} />}
          {error ? (
            <FaultNote error={error} retry={() => void refetch()} />
          ) : (
            <div className={styles.volume}>
              {answer ? (
                <Volume
                  answer={answer}
                  interval={intervalOf(time)}
                  filter={time}
                  range={rangeInWords(time, range.timezone)}
                />
              ) : (
                <Loading lines={8} />
              )}
            </div>
          )}
          {isReady ? <Rates rates={rates} /> : <Loading lines={10} />}
          <div hidden={!isReady}>
            <RenderLater>
              <Parts isFirst={isFirst} />
            </RenderLater>
          </div>
        </>
      )}
    </Page>
  )
}
