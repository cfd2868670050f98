import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMay } from '../api/session.ts'
import { healthOptions } from '../settings/queries.ts'
import { Badge } from '../ui/badge.tsx'
import styles from './monitor.module.css'
import type { Monitor } from './queries.ts'

/** Explains why a monitor's results are missing: either its judge can't be reached, or its evaluations fail. */
export const MissingResults = ({ monitor: { id, kind, enabled } }: { monitor: Monitor }) => {
  const isMember = useMay('member')
  const { data } = useQuery({ ...healthOptions, enabled })
  const find = (name: string) => data?.checks.find((check) => check.name === name && check.status !== 'ok')
  const judges = kind === 'judge' ? find('judges') : undefined
  const failing = find('evaluations')?.details.find((detail) => detail.id === id)
  const reason = typeof failing?.reason === 'string' ? ` ${failing.reason}` : ''
  const words =
    judges?.status === 'failing'
      ? judges.message
      : failing && `${failing.failed} evaluations failed in the last day.${reason}`
  if (!words) return null
  return (
    <p role="alert" className={styles.missing}>
      <Badge tone="failed">Results missing</Badge>{' '}
      {isMember ? (
        <Link to="/settings/$part" params={{ part: 'health' }}>
          {words}
        </Link>
      ) : (
        words
      )}
    </p>
  )
}
