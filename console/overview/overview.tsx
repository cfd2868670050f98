import { useQuery } from '@tanstack/react-query'
import { memo, useDeferredValue } from 'react'
import { countOptions } from '../filters/count.ts'
import { once } from '../lib/once.ts'
import { ButtonLink } from '../ui/button.tsx'
import { Page } from '../ui/page.tsx'
import { RenderLater } from '../ui/render-later.tsx'
import { Empty, FaultNote, Loading } from '../ui/states.tsx'
import { Failures, useFailures } from './failures.tsx'
import { OpenFindings } from './open-findings.tsx'
import styles from './overview.module.css'
import { volumeOptions } from './queries.ts'
import { Rates, useRates } from './rates.tsx'
import { Reviews } from './reviews.tsx'
import { Running } from './running.tsx'
import { Volume } from './volume.tsx'

const today = once(() => new Intl.DateTimeFormat('en', { weekday: 'long', month: 'long', day: 'numeric' }))

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
      Once conversations come in, this page shows your daily volume, monitor results, unusual changes, and open reviews
      and findings.
    </p>
  </Empty>
)

/** Shows the daily volume. Its height is reserved before the data arrives. */
const Recent = ({ volume: { data, error, refetch } }: { volume: ReturnType<typeof useVolume> }) => {
  const days = useDeferredValue(data?.series)
  if (error) return <FaultNote error={error} retry={() => void refetch()} />
  return <div className={styles.volume}>{days ? <Volume days={days} /> : <Loading lines={8} />}</div>
}

/** This is memoized, because every response that the overview waits for renders it again. */
const Parts = memo(() => (
  <div className={styles.parts}>
    <div>
      <OpenFindings />
    </div>
    <div>
      <Running />
      <Reviews />
    </div>
  </div>
))

const useVolume = () => useQuery(volumeOptions())

export const Overview = () => {
  const volume = useVolume()
  const rates = useRates()
  const failures = useFailures()
  // Older conversations only matter if there are no recent ones.
  const all = useQuery({ ...countOptions({}), enabled: volume.data?.count === 0 })
  const isEmpty = volume.data?.count === 0 && all.data?.count === 0
  // After rendering in small steps, everything appears at the same time, so that nothing moves while someone is
  // reading.
  const isReady = useDeferredValue(!rates.isPending && !failures.isPending)
  return (
    <Page title="Overview" context={today().format()}>
      {isEmpty ? (
        <FirstRun />
      ) : (
        <>
          <Recent volume={volume} />
          {isReady ? (
            <>
              <Failures failures={failures.rows} />
              <Rates rates={rates} />
            </>
          ) : (
            <Loading lines={10} />
          )}
          <div hidden={!isReady}>
            <RenderLater>
              <Parts />
            </RenderLater>
          </div>
        </>
      )}
    </Page>
  )
}
