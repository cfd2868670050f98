import { useQueries, useQuery } from '@tanstack/react-query'
import { Link, type LinkProps } from '@tanstack/react-router'
import { useList } from '../api/queries.ts'
import { useMay } from '../api/session.ts'
import { plural } from '../lib/format.ts'
import { endpointsOptions, integrationsOptions } from '../settings/queries.ts'
import { Badge } from '../ui/badge.tsx'
import styles from './overview.module.css'
import { failedDeliveriesOptions, failedExportsOptions } from './queries.ts'

const weekMs = 7 * 86_400_000

const isOfThisWeek = ({ createdAt }: { createdAt: string }) => Date.now() - new Date(createdAt).getTime() < weekMs

type Failure = { id: string; words: string; link: LinkProps }

const useFailedExports = (): Failure[] => {
  const { data } = useQuery(failedExportsOptions)
  const failed = data?.data.filter((row) => isOfThisWeek(row) && row.errorCode !== 'cancelled') ?? []
  return failed.length === 0
    ? []
    : [{ id: 'exports', words: `${plural(failed.length, 'export')} failed`, link: { to: '/exports' } }]
}

/** What was sent is for members to see; whether an endpoint is off, for everybody. */
const useFailedWebhooks = (isMember: boolean): Failure[] => {
  const { rows: endpoints = [] } = useList(endpointsOptions)
  const known = endpoints.slice(0, 20)
  const deliveries = useQueries({
    queries: known.map(({ id }) => ({ ...failedDeliveriesOptions(id), enabled: isMember })),
  })
  return known.flatMap(({ id, name, status, disabledReason }, at): Failure[] => {
    const failed = deliveries[at]?.data?.data.filter(isOfThisWeek).length ?? 0
    const isOff = status === 'disabled' && (disabledReason === 'failing' || disabledReason === 'gone')
    if (failed === 0 && !isOff) return []
    const words = isOff
      ? `The webhook “${name}” was switched off`
      : `${plural(failed, 'delivery', 'deliveries')} to “${name}” failed`
    const link = {
      to: '/settings/$part',
      params: { part: 'webhooks' },
      search: { open: id, status: 'failed' },
    } as const
    return [{ id, words, link }]
  })
}

const useFailedConnections = (): Failure[] => {
  const { rows = [] } = useList(integrationsOptions)
  return rows.flatMap(({ id, name, recentDeliveries: { failed, unreadable, rejected } }): Failure[] => {
    const count = failed + unreadable + rejected
    const words = `${plural(count, 'delivery', 'deliveries')} of “${name}” could not be taken in`
    const link = { to: '/settings/$part', params: { part: 'connections' }, search: { open: id } } as const
    return count === 0 ? [] : [{ id, words, link }]
  })
}

const List = ({ failures }: { failures: Failure[] }) =>
  failures.map(({ id, words, link }) => (
    <li key={id}>
      <Badge tone="failed">Failed</Badge>
      <span className={styles.grow}>
        <Link {...link}>{words}</Link>
      </span>
    </li>
  ))

const Connections = () => <List failures={useFailedConnections()} />

/** What of the last seven days failed, and does not mend itself. */
export const Failures = () => {
  const isMember = useMay('member')
  const failures = [...useFailedExports(), ...useFailedWebhooks(isMember)]
  return (
    <ul className={`${styles.list} ${styles.failures}`} aria-label="Failed in the last seven days">
      <List failures={failures} />
      {isMember && <Connections />}
    </ul>
  )
}
