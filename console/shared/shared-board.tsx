// Shows the page behind a link: a board for one company, for people without an account.

import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { isRefusal } from '../api/fault.ts'
import boards from '../boards/boards.module.css'
import { Drawing } from '../boards/drawings.tsx'
import { Logo } from '../companies/logo.tsx'
import { Empty, FaultNote, Loading } from '../ui/states.tsx'
import { type Shared, sharedBoardOptions, sharedChartOptions } from './requests.ts'
import styles from './shared.module.css'

type SharedChart = Shared['charts'][number]

const Chart = ({ token, chart }: { token: string; chart: SharedChart }) => {
  const { data, error, refetch, isFetching } = useQuery(sharedChartOptions(token, chart.id))
  return (
    <div className={`${boards.cell} ${boards[chart.width]}`}>
      <section className={boards.card} aria-label={chart.title} aria-busy={isFetching}>
        <div className={boards.head}>
          <h2>{chart.title}</h2>
        </div>
        {error && <FaultNote error={error} retry={() => void refetch()} />}
        {!data && !error && <Loading lines={4} />}
        {data && <Drawing chart={chart} answer={data} />}
      </section>
    </div>
  )
}

const Loaded = ({ token, board: { name, company, charts } }: { token: string; board: Shared }) => (
  <>
    <header className={styles.head}>
      <Logo company={company} large />
      <div className={styles.name}>
        <h1>{company.name}</h1>
        <p className={styles.soft}>{name}</p>
      </div>
    </header>
    {charts.length === 0 ? (
      <p className={styles.soft}>This board has no charts.</p>
    ) : (
      <div className={boards.charts}>
        {charts.map((chart) => (
          <Chart key={chart.id} token={token} chart={chart} />
        ))}
      </div>
    )}
  </>
)

/** Reads the token, which never reaches the server in a URL, because browsers do not send the part after `#`. */
const readToken = () => location.hash.slice(1)

export const SharedBoard = () => {
  const [token] = useState(readToken)
  const { data, error, refetch } = useQuery(sharedBoardOptions(token))
  const title = data?.company.name ?? 'Board'
  useEffect(() => {
    document.title = data ? `${title} · ${data.name}` : title
  }, [title, data])
  // If a link expires while its page is open, the board disappears.
  const isOver = isRefusal(error) && error.status !== 429
  return (
    <main className={styles.page}>
      {isOver ? (
        <>
          <h1>Link not available</h1>
          <Empty title="This link doesn’t work">
            <p>{error.message}</p>
          </Empty>
        </>
      ) : data ? (
        <Loaded token={token} board={data} />
      ) : error ? (
        <FaultNote error={error} retry={() => void refetch()} />
      ) : (
        <Loading lines={8} />
      )}
    </main>
  )
}
