import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Incident } from '../alerts/queries.ts'
import { SeverityBadge } from '../alerts/words.tsx'
import { Badge } from '../ui/badge.tsx'
import { Time } from '../ui/time.tsx'
import type { useFailures } from './failures.tsx'
import styles from './overview.module.css'
import { firingOptions } from './queries.ts'

const order: Incident['severity'][] = ['critical', 'warning', 'info']

export const useFiring = () => {
  const { data, isPending } = useQuery(firingOptions)
  const rows = (data?.data ?? []).toSorted((a, b) => order.indexOf(a.severity) - order.indexOf(b.severity))
  return { isPending, rows }
}

type AttentionProps = {
  firing: ReturnType<typeof useFiring>['rows']
  failures: ReturnType<typeof useFailures>['rows']
}

/** Shows the current problems, worst first: firing alerts, and failures in the last seven days. */
export const Attention = ({ firing, failures }: AttentionProps) => (
  <ul className={`${styles.list} ${styles.failures}`} aria-label="Needs attention">
    {firing.map((incident) => (
      <li key={incident.id}>
        <SeverityBadge {...incident} />
        <span className={styles.grow}>
          <Link to="/alerts/incidents/$id" params={{ id: incident.id }}>
            {incident.ruleName}
            {incident.group && `: ${incident.group.label ?? incident.group.key}`}
          </Link>{' '}
          <span className={styles.soft}>{incident.text}</span>
        </span>
        <span className={styles.soft}>
          <Time at={incident.openedAt} ago />
        </span>
      </li>
    ))}
    {failures.map(({ id, words, link }) => (
      <li key={id}>
        <Badge tone="failed">Failed</Badge>
        <span className={styles.grow}>{link ? <Link {...link}>{words}</Link> : words}</span>
      </li>
    ))}
  </ul>
)
