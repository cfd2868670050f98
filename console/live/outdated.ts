import { queryClient } from '../api/queries.ts'
import { isNotifying } from '../notifications/browser.ts'
import { type Affected, affectedBy, allAffected, awaited, matches } from './affected.ts'
import type { LiveEvent } from './event-stream.ts'

type Due = { ids: Set<string> | undefined; timer: ReturnType<typeof setTimeout> | undefined; ranAt: number }

const dues = new Map<Affected, Due>()

/**
 * The longest delay in milliseconds. Delays are random, so that the pages of a team don't all send requests at the same
 * moment.
 */
const mostScatter = 2_000

/**
 * Returns whether a query is requested immediately. A hidden page requests outdated data when it is shown again, except
 * for the data of browser notifications.
 */
const isWanted = ({ key: [name] }: Affected): boolean => !document.hidden || (name === 'notifications' && isNotifying())

const invalidate = (one: Affected, ids: Set<string> | undefined): void => {
  void queryClient.invalidateQueries({
    predicate: ({ queryKey }) => matches(queryKey, one, ids),
    refetchType: isWanted(one) ? 'active' : 'none',
  })
}

/** The delay if somebody is loading more rows. Requesting the list again would cancel that. */
const loadingMs = 250

const isLoadingMore = (one: Affected, ids: Set<string> | undefined): boolean =>
  queryClient.isFetching({
    predicate: ({ queryKey, state }) => matches(queryKey, one, ids) && state.fetchMeta?.fetchMore !== undefined,
  }) > 0

const run = (one: Affected, due: Due): void => {
  const { ids } = due
  if (isLoadingMore(one, ids)) {
    due.timer = setTimeout(() => run(one, due), loadingMs)
    return
  }
  due.timer = undefined
  due.ids = new Set()
  due.ranAt = performance.now()
  invalidate(one, ids)
}

const schedule = (one: Affected, id: string | undefined): void => {
  const due = dues.get(one) ?? { ids: new Set(), timer: undefined, ranAt: Number.NEGATIVE_INFINITY }
  dues.set(one, due)
  if (id === undefined) due.ids = undefined
  else due.ids?.add(id)
  if (due.timer !== undefined) return
  const waitMs = Math.max(0, due.ranAt + one.everyMs - performance.now())
  const scatterMs = Math.random() * Math.min(mostScatter, one.everyMs / 4)
  due.timer = setTimeout(() => run(one, due), waitMs + scatterMs)
}

/** Requests the data that an event makes outdated, soon but no more often than useful. */
export const applyEvent = (event: LiveEvent): void => {
  const { kind, id } = event
  for (const one of kind === 'resync' ? allAffected : affectedBy(event)) schedule(one, id)
}

/** Requests the state of work that may have ended before the stream opened. */
export const catchUp = (): void => {
  for (const one of awaited) invalidate(one, undefined)
}

export const stopApplying = (): void => {
  for (const { timer } of dues.values()) clearTimeout(timer)
  dues.clear()
}
