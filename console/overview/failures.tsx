import { useQueries, useQuery } from '@tanstack/react-query'
import type { LinkProps } from '@tanstack/react-router'
import { useList } from '../api/queries.ts'
import { useMay, useMe } from '../api/session.ts'
import { plural } from '../lib/format.ts'
import { endpointsOptions, healthOptions, integrationsOptions } from '../settings/queries.ts'
import { failedDeliveriesOptions, failedExportsOptions } from './queries.ts'

const weekMs = 7 * 86_400_000

const isOfThisWeek = ({ createdAt }: { createdAt: string }) => Date.now() - new Date(createdAt).getTime() < weekMs

/** `link` leads to the page where the problem can be fixed. */
type Failure = { id: string; words: string; link?: LinkProps }

type Failures = { isPending: boolean; rows: Failure[] }

const useFailedExports = (): Failures => {
  const { entitlements } = useMe()
  const { data, isPending } = useQuery(failedExportsOptions(entitlements.monitors))
  const failed = data?.filter((row) => isOfThisWeek(row) && row.errorCode !== 'cancelled') ?? []
  if (failed.length === 0) return { isPending, rows: [] }
  const words = `${plural(failed.length, 'export')} failed`
  return { isPending, rows: [{ id: 'exports', words, link: { to: '/exports' } }] }
}

/** Counts the recently failed deliveries to each endpoint. */
const useFailedDeliveries = (ids: string[], isMember: boolean) =>
  useQueries({
    queries: ids.map((id) => ({ ...failedDeliveriesOptions(id), enabled: isMember })),
    combine: (answers) => ({
      isPending: answers.some(({ isLoading }) => isLoading),
      counts: answers.map(({ data }) => data?.data.filter(isOfThisWeek).length ?? 0),
    }),
  })

/** Returns failed webhooks. Only members can see deliveries, but everyone can see disabled endpoints. */
const useFailedWebhooks = (isMember: boolean): Failures => {
  const { rows: endpoints = [], isPending } = useList(endpointsOptions)
  const known = endpoints.slice(0, 20)
  const deliveries = useFailedDeliveries(
    known.map(({ id }) => id),
    isMember,
  )
  const rows = known.flatMap(({ id, name, status, disabledReason }, at): Failure[] => {
    const failed = deliveries.counts[at] ?? 0
    const isOff = status === 'disabled' && (disabledReason === 'failing' || disabledReason === 'gone')
    if (failed === 0 && !isOff) return []
    const words = isOff
      ? `The webhook endpoint “${name}” was disabled`
      : `${plural(failed, 'delivery', 'deliveries')} to “${name}” failed`
    const link = {
      to: '/settings/$part',
      params: { part: 'webhooks' },
      search: { open: id, status: 'failed' },
    } as const
    return [{ id, words, link }]
  })
  return { isPending: isPending || deliveries.isPending, rows }
}

const useFailedConnections = (isMember: boolean): Failures => {
  const { rows = [], isPending } = useList({ ...integrationsOptions, enabled: isMember })
  const failed = rows.flatMap(({ id, name, recentDeliveries: { failed, unreadable, rejected } }): Failure[] => {
    const count = failed + unreadable + rejected
    const words = `${plural(count, 'delivery', 'deliveries')} from “${name}” couldn’t be processed`
    const link = { to: '/settings/$part', params: { part: 'connections' }, search: { open: id } } as const
    return count === 0 ? [] : [{ id, words, link }]
  })
  return { isPending: isMember && isPending, rows: failed }
}

const healthPage: LinkProps = { to: '/settings/$part', params: { part: 'health' } }

/** Returns monitors that have no results because their judge or rule fails. */
const useMissingResults = (isMember: boolean): Failures => {
  const { data, isLoading } = useQuery(healthOptions)
  const checks = data?.checks.filter(({ name }) => name === 'judges' || name === 'evaluations') ?? []
  const rows = checks.flatMap(({ name, status, message }): Failure[] =>
    status === 'failing' ? [{ id: name, words: message, ...(isMember && { link: healthPage }) }] : [],
  )
  return { isPending: isLoading, rows }
}

/** Returns the failures of the last seven days that won't resolve on their own. */
export const useFailures = (): Failures => {
  const isMember = useMay('member')
  const failures = [
    useMissingResults(isMember),
    useFailedExports(),
    useFailedWebhooks(isMember),
    useFailedConnections(isMember),
  ]
  return { isPending: failures.some(({ isPending }) => isPending), rows: failures.flatMap(({ rows }) => rows) }
}
