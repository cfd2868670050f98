import { useQuery } from '@tanstack/react-query'
import { Fault } from '../api/fault.ts'
import type { Bucket } from '../buckets/queries.ts'
import { type Result, reviewResultsOptions } from './queries.ts'

const none: Result[] = []

/** Returns the monitors' results that the reviewer may see before answering. */
export const useResults = (bucket: Bucket, conversationId: string) => {
  const { data, error, refetch } = useQuery({ ...reviewResultsOptions(conversationId), enabled: !bucket.blind })
  // The same reviewer may have a blind review of the conversation in another bucket.
  const isHidden = bucket.blind || (error instanceof Fault && error.status === 403)
  return {
    isHidden,
    isReady: isHidden || data !== undefined,
    /** There are no results while they are hidden, even if they are cached. */
    found: isHidden ? none : (data ?? none),
    error: isHidden || data !== undefined ? null : error,
    retry: () => void refetch(),
  }
}
