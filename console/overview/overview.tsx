import { useQuery } from '@tanstack/react-query'
import { countOptions } from '../filters/count.ts'
import { ButtonLink } from '../ui/button.tsx'
import { Page } from '../ui/page.tsx'
import { Await, Empty } from '../ui/states.tsx'
import { Failures } from './failures.tsx'
import { OpenFindings } from './open-findings.tsx'
import styles from './overview.module.css'
import { Rates } from './rates.tsx'
import { Reviews } from './reviews.tsx'
import { Running } from './running.tsx'
import { Volume } from './volume.tsx'

const today = new Intl.DateTimeFormat('en', { weekday: 'long', month: 'long', day: 'numeric' })

const FirstRun = () => (
  <Empty
    title="Nothing has come in yet"
    action={
      <ButtonLink look="primary" to="/start">
        Send the first conversation
      </ButtonLink>
    }
  >
    <p>
      From here you see each day how many conversations there were, what your monitors found in them, what is out of the
      ordinary, and what waits for you.
    </p>
  </Empty>
)

export const Overview = () => {
  const all = useQuery(countOptions({}))
  return (
    <Page title="Overview" context={today.format()}>
      <Await query={all} lines={10}>
        {({ count }) =>
          count === 0 ? (
            <FirstRun />
          ) : (
            <>
              <div className={styles.main}>
                <Volume />
                <Failures />
              </div>
              <Rates />
              <div className={styles.parts}>
                <div>
                  <OpenFindings />
                </div>
                <div>
                  <Running />
                  <Reviews />
                </div>
              </div>
            </>
          )
        }
      </Await>
    </Page>
  )
}
