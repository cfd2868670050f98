import type { FastifyReply } from 'fastify'
import ipaddr from 'ipaddr.js'
import { ApiError } from '../errors.ts'

type Rate = { perSecond: number; burst: number }
type TokenBucket = { tokens: number; filledAt: number }

/**
 * If there are more callers than this, full buckets are dropped. Nothing is lost, because the bucket of an unknown
 * caller is full.
 */
const maxBuckets = 10_000

/** Limits callers with token buckets in this process. `now` is in milliseconds and never decreases. */
export const tokenBuckets = ({ perSecond, burst }: Rate, now: () => number = () => performance.now()) => {
  const buckets = new Map<string, TokenBucket>()

  const refill = (bucket: TokenBucket, time: number): void => {
    bucket.tokens = Math.min(burst, bucket.tokens + ((time - bucket.filledAt) / 1_000) * perSecond)
    bucket.filledAt = time
  }

  const sweep = (time: number): void => {
    for (const [caller, bucket] of buckets) {
      refill(bucket, time)
      if (bucket.tokens >= burst) buckets.delete(caller)
    }
    // All buckets are in use, so this starts over instead of growing.
    if (buckets.size >= maxBuckets) buckets.clear()
  }

  return {
    /** Takes a token. `remaining` is negative if there was none. */
    take: (caller: string): number => {
      const time = now()
      let bucket = buckets.get(caller)
      if (bucket) refill(bucket, time)
      else {
        if (buckets.size >= maxBuckets) sweep(time)
        bucket = { tokens: burst, filledAt: time }
        buckets.set(caller, bucket)
      }
      if (bucket.tokens < 1) return -1
      bucket.tokens -= 1
      return Math.floor(bucket.tokens)
    },
  }
}

const tooMany = (message: string, retryAfterSeconds = 1) => new ApiError('rateLimited', message, { retryAfterSeconds })

/**
 * Returns the key under which an address is counted. An IPv6 network belongs to one customer, so all of its addresses
 * are counted together.
 */
export const neighbourhood = (address: string): string => {
  if (!ipaddr.IPv6.isValid(address)) return address
  const parsed = ipaddr.IPv6.parse(address)
  return parsed.isIPv4MappedAddress() ? parsed.toIPv4Address().toString() : parsed.parts.slice(0, 4).join(':')
}

/** Limits attempts at guessing by IP address. */
export const limitByAddress = (rate: Rate, message: string): ((address: string) => void) => {
  const buckets = tokenBuckets(rate)
  return (address) => {
    if (buckets.take(neighbourhood(address)) < 0) throw tooMany(message, Math.ceil(1 / rate.perSecond))
  }
}

export type RateLimits = {
  /** Counts a request by a key or person, and returns how many are left. */
  spend: (caller: string, reply: FastifyReply) => void
  /** Counts an attempt with an unknown key, by its IP address. */
  countUnknownKey: (address: string) => void
}

export const openRateLimits = (rate: Rate): RateLimits => {
  const callers = tokenBuckets(rate)
  const policy = `"default";q=${rate.burst};w=${Math.ceil(rate.burst / rate.perSecond)}`
  return {
    spend: (caller, reply) => {
      const remaining = callers.take(caller)
      reply.header('ratelimit-policy', policy)
      const left = Math.max(0, remaining)
      reply.header('ratelimit', `"default";r=${left};t=${Math.ceil((rate.burst - left) / rate.perSecond)}`)
      if (remaining < 0) throw tooMany('This key exceeds its rate limit, which is in the RateLimit-Policy header.')
    },
    countUnknownKey: limitByAddress({ perSecond: 20, burst: 200 }, 'Too many unknown keys from this IP address.'),
  }
}
