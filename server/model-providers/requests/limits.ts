// Enforces the limits of a provider across all processes.
import type { Clock } from '../../platform/clock.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { newId } from '../../platform/ids.ts'
import type { Log } from '../../platform/log.ts'
import { EndpointError } from './endpoint-error.ts'
import {
  countRecentRequests,
  deletePastRequests,
  endRequest,
  insertRequest,
  lockProviderRequests,
  renewRequest,
} from './queries.ts'

export type ProviderLimits = {
  /** The maximum number of concurrent requests. */
  concurrency: number
  requestsPerMinute: number | undefined
  tokensPerMinute: number | undefined
  contextTokens: number
  timeoutMs: number
}

const minuteMs = 60_000
/**
 * The time for which the slot of a process that died during a request stays occupied. Requests can take much longer, so
 * leases are renewed.
 */
const leaseMs = 60_000
const renewEveryMs = 20_000
/**
 * The wait for a slot that another process occupies. It is fixed, because it is unknown when the slot will be freed.
 */
const shortestWaitMs = 100
const longestWaitMs = 1_000

type Admission = {
  db: Db
  clock: Clock
  log: Log
  wait: (ms: number, signal: AbortSignal) => Promise<unknown>
}

export type LimitedRequest = {
  org: OrgId
  providerId: string
  /** The time of the provider's last update when it was read. */
  updatedAt: Date
  limits: ProviderLimits
  /** The estimated number of tokens in the prompt and the answer. */
  tokens: number
  signal: AbortSignal
  /** The time at which the request must end. No wait extends beyond it. */
  deadline: number
}

type Full = { because: string; waitMs: number }

const changed = () =>
  new EndpointError('changed', 'the model provider was changed, disabled, or deleted in the meantime', {
    retryAfterMs: 1_000,
  })

const leaseEnd = (clock: Clock): Date => new Date(clock.now().getTime() + leaseMs)

/**
 * Reserves a slot, or returns the reason why there is none and when to try again. Throws if the provider has changed
 * since it was read, so that no request is sent to a provider that was disabled or moved while requests were waiting.
 */
const reserve = ({ db, clock }: Admission, request: LimitedRequest, id: string): Promise<Full | undefined> =>
  db.transaction().execute(async (trx) => {
    const { org, providerId, updatedAt, limits, tokens } = request
    const provider = await lockProviderRequests(trx, org, providerId)
    if (provider?.status !== 'active' || provider.updatedAt.getTime() !== updatedAt.getTime()) throw changed()
    const now = clock.now()
    const times = { now, since: new Date(now.getTime() - minuteMs) }
    await deletePastRequests(trx, org, providerId, times)
    const recent = await countRecentRequests(trx, org, providerId, times)
    const { concurrency, requestsPerMinute, tokensPerMinute } = limits
    const untilNext = (recent.oldestStartedAt?.getTime() ?? 0) + minuteMs - now.getTime()
    const full = (because: string, waitMs: number) => ({ because, waitMs: Math.max(shortestWaitMs, waitMs) })
    if (recent.open >= concurrency) return full(`${concurrency} requests at a time`, shortestWaitMs)
    if (requestsPerMinute !== undefined && recent.requests >= requestsPerMinute)
      return full(`${requestsPerMinute} requests per minute`, untilNext)
    // A request that exceeds the limit on its own waits until it is the only one.
    if (tokensPerMinute !== undefined && recent.tokens > 0 && recent.tokens + tokens > tokensPerMinute)
      return full(`${tokensPerMinute} tokens per minute`, untilNext)
    await insertRequest(trx, org, providerId, { id, startedAt: now, leasedUntil: leaseEnd(clock), tokens })
    return undefined
  })

/** Renews the lease of a request until the returned function is called. */
const keepLease = ({ db, clock, log }: Admission, { org, providerId }: LimitedRequest, id: string) => {
  const renew = () =>
    renewRequest(db, org, providerId, id, leaseEnd(clock)).catch((err: unknown) =>
      log.warn({ err }, 'could not renew the lease of a request to a model provider'),
    )
  const timer = setInterval(renew, renewEveryMs)
  return () => clearInterval(timer)
}

/**
 * Waits until the provider's limits allow another request. Returns a function that ends the request with the number of
 * tokens that it actually used.
 */
export const admit = async (
  admission: Admission,
  request: LimitedRequest,
): Promise<(tokens: number) => Promise<unknown>> => {
  const { db, clock, wait } = admission
  const { org, providerId, signal, deadline } = request
  const id = newId()
  let pauseMs = shortestWaitMs
  for (;;) {
    signal.throwIfAborted()
    const full = await reserve(admission, request, id)
    if (!full) {
      const release = keepLease(admission, request, id)
      return (tokens) => {
        release()
        return endRequest(db, org, providerId, id, tokens)
      }
    }
    const waitMs = Math.max(full.waitMs, pauseMs)
    if (clock.now().getTime() + waitMs > deadline) {
      throw new EndpointError('limited', `the provider is limited to ${full.because}`, { retryAfterMs: full.waitMs })
    }
    await wait(waitMs, signal)
    pauseMs = Math.min(longestWaitMs, pauseMs * 2)
  }
}
