import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { experimentOptions, outcomeName, type Summary } from '../experiments/queries.ts'
import { Section } from '../ui/page.tsx'
import { FaultNote } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import styles from './overview.module.css'
import { runningOptions } from './queries.ts'

/** Describes the primary outcome in the same words as the experiment's page. */
const State = ({ id }: { id: string }) => {
  const { data } = useQuery(experimentOptions(id))
  const primary = data?.outcomes.find((outcome) => outcome.primary)
  return primary ? (
    <p className={styles.soft}>
      {outcomeName(primary)}: {primary.verdict.text}
    </p>
  ) : null
}

const ExperimentRow = ({ experiment: { id, name, startedAt } }: { experiment: Summary }) => (
  <li>
    <div className={styles.grow}>
      <Link to="/experiments/$id" params={{ id }}>
        {name}
      </Link>
      <State id={id} />
    </div>
    <span className={styles.soft}>
      since <Time at={startedAt} />
    </span>
  </li>
)

export const Running = () => {
  const { data, error } = useQuery(runningOptions)
  if (error) return <FaultNote error={error} />
  if (!data || data.data.length === 0) return null
  return (
    <Section title="Running experiments">
      <ul className={styles.list}>
        {data.data.map((experiment) => (
          <ExperimentRow key={experiment.id} experiment={experiment} />
        ))}
      </ul>
      {data.nextCursor !== null && (
        <p className={styles.rest}>
          <Link to="/experiments">All experiments</Link>
        </p>
      )}
    </Section>
  )
}
