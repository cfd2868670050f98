import type { Page } from '../http/paging.ts'
import { StaleAttempt } from './attempt.ts'
import type { Attempt } from './define-job.ts'

/**
 * Continues with the others after a failure, which must not block them, however often the job runs. The first failure
 * is thrown at the end, so that the job is retried and logged. An ended attempt stops.
 */
export const attemptEach = async <T>(
  { signal }: Pick<Attempt, 'signal'>,
  items: Iterable<T> | AsyncIterable<T>,
  effect: (item: T) => Promise<void>,
): Promise<void> => {
  let first: { fault: unknown } | undefined
  for await (const item of items) {
    signal.throwIfAborted()
    try {
      await effect(item)
    } catch (fault) {
      signal.throwIfAborted()
      if (fault instanceof StaleAttempt) throw fault
      first ??= { fault }
    }
  }
  if (first) throw first.fault
}

/** One after the other, from pages that start after the last listed one. */
export async function* eachOfPages<T extends { id: string }>(
  limit: number,
  list: (page: Page) => Promise<T[]>,
  first?: string,
): AsyncGenerator<T> {
  for (let after = first; ; ) {
    const page = await list({ limit, after })
    yield* page
    after = page.at(-1)?.id
    if (page.length < limit) return
  }
}
