import { useQuery } from '@tanstack/react-query'
import { useCallback, useEffect, useRef, useState } from 'react'
import type { Fault } from '../api/fault.ts'
import { useMe } from '../api/session.ts'
import { newId } from '../lib/ids.ts'
import { claimReview, extendLease, isLost, type Review, releaseReview, sendRelease } from './queries.ts'

const heartbeatEvery = 60_000
/** Activity extends the lease when less time than this is left. */
const renewBelow = 25 * 60_000

/** Extends the lease while the reviewer moves, types, or listens. Without activity, it expires. */
const useHeartbeat = (review: Review | undefined | null) => {
  const [leaseEnds, setLeaseEnds] = useState<string | null>(null)
  const [lost, lose] = useState<Fault>()
  useEffect(() => {
    setLeaseEnds(review?.leaseExpiresAt ?? null)
    lose(undefined)
    if (!review) return
    let ends = new Date(review.leaseExpiresAt ?? 0).getTime()
    let stirred = false
    const stir = () => {
      stirred = true
    }
    const beat = async () => {
      const playing = document.querySelector('audio')?.paused === false
      if ((!stirred && !playing) || ends - Date.now() > renewBelow) return
      stirred = false
      try {
        const extended = await extendLease(review.id)
        ends = new Date(extended.leaseExpiresAt ?? 0).getTime()
        setLeaseEnds(extended.leaseExpiresAt)
      } catch (error) {
        // Other errors may be temporary.
        if (isLost(error)) lose(error)
      }
    }
    const timer = setInterval(() => void beat(), heartbeatEvery)
    for (const name of ['pointermove', 'keydown', 'wheel']) document.addEventListener(name, stir, { passive: true })
    return () => {
      clearInterval(timer)
      for (const name of ['pointermove', 'keydown', 'wheel']) document.removeEventListener(name, stir)
    }
  }, [review])
  return { leaseEnds, lost, lose }
}

/** Manages the reviewer's lease in a bucket: claims the next review, and releases it on leaving. */
export const useLease = (bucketId: string, present: string | undefined) => {
  const { member } = useMe()
  // Each visit and each round claims a review again.
  const [visit] = useState(() => newId())
  const [round, setRound] = useState(0)
  const taking = useRef<Promise<Review | null>>(undefined)
  const query = useQuery({
    queryKey: ['room', bucketId, visit, round],
    queryFn: () => {
      const next = claimReview({ bucketId, me: member.userId, present: round === 0 ? present : undefined })
      taking.current = next
      return next
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: false,
  })
  const review = query.data
  const claimed = useRef<string>(undefined)
  useEffect(() => {
    claimed.current = review?.id
  }, [review])

  useEffect(() => {
    let here = true
    const leave = (release: typeof releaseReview | typeof sendRelease) => {
      if (claimed.current !== undefined) void release(claimed.current, bucketId)
      // The reviewer left the page before the claim finished.
      else void taking.current?.then((late) => late && release(late.id, bucketId)).catch(() => undefined)
    }
    const vanish = () => leave(sendRelease)
    const returned = ({ persisted }: PageTransitionEvent) => persisted && location.reload()
    addEventListener('pagehide', vanish)
    addEventListener('pageshow', returned)
    released.delete(visit)
    return () => {
      here = false
      removeEventListener('pagehide', vanish)
      removeEventListener('pageshow', returned)
      released.add(visit)
      // React mounts components twice in development. If the component mounts again immediately, the review must not be
      // released.
      setTimeout(() => !here && released.has(visit) && leave(releaseReview), 0)
    }
  }, [visit, bucketId])

  const next = useCallback(() => {
    claimed.current = undefined
    taking.current = undefined
    setRound((now) => now + 1)
  }, [])
  return { ...query, review, next, round, ...useHeartbeat(review) }
}

const released = new Set<string>()
