import { useQuery } from '@tanstack/react-query'
import { Fault } from '../api/fault.ts'
import type { Bucket } from '../buckets/queries.ts'
import { foundOptions, type Result } from './queries.ts'

const none: Result[] = []

/** What the monitors found, as far as the reviewer may see it before the own answer. */
export const useFound = (bucket: Bucket, conversationId: string) => {
  const { data, error, refetch } = useQuery({ ...foundOptions(conversationId), enabled: !bucket.blind })
  // Of another bucket the same person may hold it blind.
  const isHidden = bucket.blind || (error instanceof Fault && error.status === 403)
  return {
    isHidden,
    isReady: isHidden || data !== undefined,
    /** None while it is hidden, also where it was read before. */
    found: isHidden ? none : (data ?? none),
    error: isHidden || data !== undefined ? null : error,
    retry: () => void refetch(),
  }
}
