import { publishChanges } from '../../platform/changes/changes.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Db } from '../../platform/db/database.ts'
import { newId, orgIdOf } from '../../platform/ids.ts'
import type { Log } from '../../platform/log.ts'
import { addJudgeRequests, type JudgeRequests } from './queries.ts'

const hourMs = 3_600_000
/**
 * The time for which requests are collected before they are stored together. If the process dies, only these counts are
 * lost.
 */
const storeAfterMs = 2_000

type Request = { owner: string; model: string; durationMs: number; fault: string | undefined }

export type RequestLog = {
  note: (request: Request) => void
  close: () => Promise<void>
}

type OwnedRequests = JudgeRequests & { owner: string }

const add = (made: OwnedRequests, { durationMs, fault }: Request, now: Date): void => {
  made.requests++
  made.durationMs += Math.round(durationMs)
  if (fault === undefined) {
    made.lastAnsweredAt = now
    if (durationMs <= 1_000) made.within1s++
    if (durationMs <= 3_000) made.within3s++
    if (durationMs <= 10_000) made.within10s++
    if (durationMs <= 30_000) made.within30s++
    return
  }
  made.failed++
  made.lastFault = fault
  made.lastFailedAt = now
}

/** Counts the responses of model endpoints for each organization, and measures their speed. */
export const openRequestLog = ({ db, clock, log }: { db: Db; clock: Clock; log: Log }): RequestLog => {
  let pending = new Map<string, OwnedRequests>()
  /** The organizations and models for which the last request failed. */
  const failing = new Set<string>()
  let timer: NodeJS.Timeout | undefined
  let storing: Promise<void> = Promise.resolve()

  const store = async (): Promise<void> => {
    timer = undefined
    const stored = [...pending.values()]
    pending = new Map()
    for (const { owner, ...made } of stored) {
      const org = orgIdOf(owner)
      await addJudgeRequests(db, org, made)
      // The console reads the counts every minute. It is only notified earlier when requests start or stop failing.
      const name = `${org} ${made.model}`
      const isFailing = made.failed > 0
      if (isFailing !== failing.has(name)) await publishChanges(db, org, { resource: 'health', kind: 'updated' })
      if (isFailing) failing.add(name)
      else failing.delete(name)
    }
  }

  const storeSafely = () => {
    storing = storing
      .then(store)
      .catch((err: unknown) => log.warn({ err }, 'could not store the counts of judge requests'))
  }

  return {
    note: (request) => {
      // Tests and benchmarks use judges without an organization, so there is nothing to store.
      if (request.owner === '') return
      const now = clock.now()
      const hour = new Date(Math.floor(now.getTime() / hourMs) * hourMs)
      const name = `${request.owner} ${hour.getTime()} ${request.model}`
      const counts = { requests: 0, failed: 0, durationMs: 0, within1s: 0, within3s: 0, within10s: 0, within30s: 0 }
      const last = { lastFault: null, lastFailedAt: null, lastAnsweredAt: null }
      const made = pending.get(name) ?? {
        owner: request.owner,
        id: newId(),
        hour,
        model: request.model,
        ...counts,
        ...last,
      }
      pending.set(name, made)
      add(made, request, now)
      timer ??= setTimeout(storeSafely, storeAfterMs)
    },
    close: async () => {
      clearTimeout(timer)
      storeSafely()
      await storing
    },
  }
}
