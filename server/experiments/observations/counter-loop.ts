// Keeps experiments up to date. Each worker looks for changes every second, and only one worker at a time counts the
// changes to an experiment. With jobs, one would have to be enqueued for every result, which can be millions a day.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Deps } from '../../platform/deps.ts'
import { countChanges } from './apply-changes.ts'
import { listChangedAllOrgs } from './queries.ts'

const lookEveryMs = 1_000

type CountingDeps = Parameters<typeof countChanges>[0] & Pick<Deps, 'log'>

/**
 * Counts all changes so far. Experiments take turns, so that an experiment with an error or many changes does not block
 * the others.
 */
export const countAll = async (deps: CountingDeps, signal?: AbortSignal): Promise<void> => {
  const faulty = new Set<string>()
  let isMore = true
  while (isMore) {
    isMore = false
    for (const { org, id } of await listChangedAllOrgs(deps.db)) {
      if (signal?.aborted) return
      if (faulty.has(id)) continue
      try {
        isMore = (await countChanges(deps, org, id)) || isMore
      } catch (error) {
        faulty.add(id)
        deps.log.error({ err: error, experimentId: id }, 'counting an experiment failed, retrying')
      }
    }
  }
}

export const startCounting = (deps: CountingDeps): { stop: () => Promise<void> } => {
  const ending = new AbortController()
  const count = async () => {
    while (!ending.signal.aborted) {
      await countAll(deps, ending.signal).catch((error: unknown) =>
        deps.log.warn({ err: error }, 'listing changed experiments failed'),
      )
      await sleep(lookEveryMs, undefined, { signal: ending.signal }).catch(() => {})
    }
  }
  const counting = count()
  return {
    stop: () => {
      ending.abort()
      return counting
    },
  }
}
