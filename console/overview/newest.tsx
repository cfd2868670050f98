import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useNames } from '../api/names.ts'
import { formatDuration } from '../lib/format.ts'
import { Badge } from '../ui/badge.tsx'
import { Section } from '../ui/page.tsx'
import { Time } from '../ui/time.tsx'
import styles from './overview.module.css'
import { newestOptions } from './queries.ts'

/** Shows the newest conversations while there are too few for meaningful figures. */
export const Newest = () => {
  const { data } = useQuery(newestOptions)
  const agents = useNames('agents')
  if (!data || data.data.length === 0) return null
  return (
    <Section title="Newest conversations">
      <ul className={styles.list}>
        {data.data.map(({ id, agentId, startedAt, durationSeconds, results }) => {
          const affected = (results ?? []).filter(({ result }) => result === 'affected').length
          return (
            <li key={id}>
              <span className={styles.grow}>
                <Link to="/conversations/$id" params={{ id }} search={{}}>
                  {agents.nameOf(agentId)}
                </Link>
              </span>
              {affected > 0 && <Badge tone="affected">{affected} affected</Badge>}
              <span className={styles.soft}>
                {durationSeconds !== null && `${formatDuration(durationSeconds)} · `}
                <Time at={startedAt} ago />
              </span>
            </li>
          )
        })}
      </ul>
    </Section>
  )
}
