import { StaleAttempt } from './attempt.ts'
import type { Attempt } from './define-job.ts'

/**
 * Goes on with the others where one fails: it must not keep them, however often the job runs. The first failure is
 * thrown in the end, so that the job comes again and the log tells. An attempt that is over goes on with none.
 */
export const attemptEach = async <T>(
  { signal }: Pick<Attempt, 'signal'>,
  items: readonly T[],
  effect: (item: T) => Promise<void>,
): Promise<void> => {
  const faults: unknown[] = []
  for (const item of items) {
    signal.throwIfAborted()
    try {
      await effect(item)
    } catch (fault) {
      signal.throwIfAborted()
      if (fault instanceof StaleAttempt) throw fault
      faults.push(fault)
    }
  }
  if (faults.length > 0) throw faults[0]
}
