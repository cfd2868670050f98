import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { plural, sentenceCase } from '../lib/format.ts'
import { Badge } from '../ui/badge.tsx'
import { Section } from '../ui/page.tsx'
import { FaultNote } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import styles from './overview.module.css'
import { openFindingsOptions, openStatuses } from './queries.ts'

const order = ['urgent', 'high', 'medium', 'low', 'none']
const maxShown = 6
const dayMs = 86_400_000

const ageOf = ({ createdAt }: { createdAt: string }) => (Date.now() - new Date(createdAt).getTime()) / dayMs

/** Counts open findings by age, in three groups. */
const Ages = ({ ages }: { ages: number[] }) => {
  const [young, older] = [ages.filter((age) => age < 1).length, ages.filter((age) => age >= 7).length]
  const heaps = [
    young > 0 && `${young} from the last 24 hours`,
    ages.length - young - older > 0 && `${ages.length - young - older} up to a week old`,
    older > 0 && `${older} older than a week`,
  ]
  return heaps.filter(Boolean).join(', ')
}

/** Shows open findings by priority, oldest first. */
export const OpenFindings = () => {
  const { data, error } = useQuery(openFindingsOptions)
  if (error) return <FaultNote error={error} />
  if (!data || data.data.length === 0) return null
  const findings = data.data.toSorted(
    (a, b) => order.indexOf(a.priority) - order.indexOf(b.priority) || ageOf(b) - ageOf(a),
  )
  const count = plural(findings.length, 'open finding')
  return (
    <Section title="Open findings" context={<Ages ages={findings.map(ageOf)} />}>
      <ul className={styles.list}>
        {findings.slice(0, maxShown).map(({ id, title, priority, conversationCount, createdAt }) => (
          <li key={id}>
            <span className={styles.grow}>
              <Link to="/findings/$id" params={{ id }}>
                {title}
              </Link>
            </span>
            {(priority === 'urgent' || priority === 'high') && (
              <Badge tone={priority === 'urgent' ? 'failed' : 'affected'}>{sentenceCase(priority)}</Badge>
            )}
            <span className={styles.soft}>
              {conversationCount > 0 && `${plural(conversationCount, 'conversation')} · `}
              <Time at={createdAt} ago />
            </span>
          </li>
        ))}
      </ul>
      {findings.length > maxShown && (
        <p className={styles.rest}>
          <Link to="/findings" search={{ status: openStatuses }}>
            {data.nextCursor === null ? `View all ${count}` : `View all (more than ${count})`}
          </Link>
        </p>
      )}
    </Section>
  )
}
