import type { Page } from '../http/paging.ts'
import { StaleAttempt } from './attempt.ts'
import type { Attempt } from './define-job.ts'

/**
 * Handles each item, and continues after a failure, because one item must not block the others. Throws the first
 * failure at the end, so that the job is retried and the failure is logged. Stops if the attempt ends.
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

/** Yields the items on all pages. Each page starts after the last item of the previous page. */
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
