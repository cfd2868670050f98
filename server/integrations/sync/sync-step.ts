import { publishChanges } from '../../platform/changes/changes.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import type { Deps } from '../../platform/deps.ts'
import { newId } from '../../platform/ids.ts'
import { isObject } from '../../platform/is-object.ts'
import type { Attempt } from '../../platform/jobs/define-job.ts'
import { isCall } from '../../transcripts/provider-calls/call.ts'
import { readCall } from '../../transcripts/provider-calls/read-call.ts'
import { applyPayload } from '../apply-payload.ts'
import { holdsUnsoundText, type Parsed, parsePayload } from '../payload.ts'
import { readingOf } from '../read-payload.ts'
import { type Account, askProvider, type ProviderAnswer, parseAnswer } from './ask-provider.ts'
import { findKnown, namedCalls, sortOut } from './classify-calls.ts'
import { countGaps, upsertGap } from './gaps/queries.ts'
import { openKey } from './key.ts'
import { longestCursor, mostGaps, mostPages, windowMs } from './limits.ts'
import { callSourceOf, type ListedPage } from './providers.ts'
import { findSealedSync, lockSync, lockSyncShared, updateSync } from './queries.ts'
import { Superseded, settleFailed, settleFetched } from './record-outcome.ts'
import { endRun, findRunningRun, lockRunningRun, updateRun } from './runs/queries.ts'

/** Takes the next step of a run: lists a page, fetches a call, or completes the period. */

type Run = NonNullable<Awaited<ReturnType<typeof findRunningRun>>>
type Sync = NonNullable<Awaited<ReturnType<typeof findSealedSync>>>
export type SyncState = { org: OrgId; run: Run; sync: Sync; account: Account }

/** `done`: the run continues. `over`: there is nothing left to do. All others end or postpone the run. */
export type StepOutcome =
  | 'done'
  | 'over'
  | Exclude<ProviderAnswer, { body: Buffer } | { missing: string }>
  | { failed: string }

/** Returns the state of a run. It can be outdated, so functions that write check it again under a lock. */
export const findState = async (deps: Deps, org: OrgId, runId: string): Promise<SyncState | undefined> => {
  const run = await findRunningRun(deps.db, org, runId)
  const sync = run && (await findSealedSync(deps.db, org, run.integrationId))
  const source = run && callSourceOf(run.provider)
  if (!run || !sync || !source) return undefined
  const apiKey = openKey(deps.secrets, org, run.integrationId, sync.apiKey)
  return { org, run, sync, account: { source, apiKey, baseUrl: sync.apiBaseUrl ?? source.baseUrl } }
}

const ask = (deps: Deps, { account }: SyncState, asked: Parameters<typeof askProvider>[2]) =>
  askProvider(deps.outbound, account, asked, { maxBytes: deps.config.limits.documentBytes, now: deps.clock.now() })

/** Stores the listed calls and the calls to fetch, together with the cursor of the next page. */
const notePage = async (deps: Deps, trx: Db, { org, run, sync }: SyncState, page: ListedPage): Promise<void> => {
  const now = deps.clock.now()
  const { id, integrationId } = run
  const calls = namedCalls(page.calls)
  const known = await findKnown(
    trx,
    org,
    integrationId,
    calls.map(({ externalId }) => externalId),
  )
  const { missing, unfinished, count } = sortOut(calls, known, { listedUntil: sync.listedUntil, now })
  for (const { externalId, beganAt } of unfinished) {
    const gap = { id: newId(), externalId, beganAt, state: 'unfinished', reason: null } as const
    await upsertGap(trx, org, integrationId, { ...gap, triedAt: now, nextTryAt: now })
  }
  const addPending = missing
    .map(({ externalId }) => externalId)
    .filter((externalId) => !run.pending.includes(externalId))
  const progress = { pageCursor: page.next, windowListed: page.next === null, pages: run.pages + 1, waits: 0 }
  await updateRun(trx, org, id, { ...progress, addPending, count })
  await publishChanges(trx, org, { resource: 'integrations', kind: 'updated', ids: [integrationId] })
}

/** Returns the reason why the next page must not be requested. */
const faultOf = (next: string | null, cursor: string | null): string | undefined => {
  if (next === null) return undefined
  if (next === cursor) return 'The provider returned the same page twice.'
  const isKept = next.length <= longestCursor && !holdsUnsoundText(next)
  return isKept ? undefined : 'The provider returned a cursor that cannot be stored.'
}

export const listPage = async (deps: Deps, attempt: Attempt, state: SyncState): Promise<StepOutcome> => {
  const { org, run, account } = state
  if (run.pages >= mostPages) return { failed: `The provider returned more than ${mostPages} pages.` }
  if ((await countGaps(deps.db, org, run.integrationId)) > mostGaps) {
    return { failed: `More than ${mostGaps} calls could not be stored.` }
  }
  const window = { from: run.windowFrom, until: run.windowUntil }
  const answer = await ask(deps, state, account.source.list(window, run.pageCursor))
  if ('missing' in answer) return { failed: `Listing the calls failed. ${answer.missing}` }
  if (!('body' in answer)) return answer
  const page = account.source.readPage(parseAnswer(answer.body), run.pageCursor)
  if (!page) return { trouble: 'The provider returned something other than a list of calls.' }
  const fault = faultOf(page.next, run.pageCursor)
  if (fault !== undefined) return { failed: fault }
  await attempt.transaction(async (trx) => {
    await lockSyncShared(trx, org, run.integrationId)
    const present = await lockRunningRun(trx, org, run.id)
    if (present?.pages === run.pages) await notePage(deps, trx, { ...state, run: present }, page)
  })
  return 'done'
}

/** Returns the call in the format of the provider's webhook. */
const payloadOf = ({ account }: SyncState, body: Buffer): Parsed => {
  const parsed = parsePayload(body, 'application/json')
  if ('unreadable' in parsed) return parsed
  if (!isObject(parsed.value)) return { unreadable: 'The provider returned something other than a call.' }
  return { value: account.source.payloadOf(parsed.value) }
}

/** Fetches one call and stores it like a webhook. If there is a problem with only this call, records a gap. */
export const fetchCall = async (
  deps: Deps,
  attempt: Attempt,
  state: SyncState,
  { externalId, mayFail }: { externalId: string; mayFail: boolean },
): Promise<StepOutcome> => {
  const { org, run, account } = state
  const call = { run, externalId, beganAt: null, now: deps.clock.now() }
  const fail = async (reason: string): Promise<void> =>
    attempt.transaction((trx) => settleFailed(trx, org, call, reason))
  const response = await ask(deps, state, account.source.detail(externalId))
  // A key may lack access to a single call. If it lacks access to many calls in a row, the key is wrong.
  const isHidden = mayFail && 'refused' in response && response.status === 403
  const answer = isHidden ? { trouble: 'The API key has no access to this call (status 403).' } : response
  attempt.signal.throwIfAborted()
  if ('missing' in answer) {
    await fail(answer.missing)
    return 'done'
  }
  if ('trouble' in answer && mayFail) await fail(answer.trouble)
  if (!('body' in answer)) return answer
  const payload = payloadOf(state, answer.body)
  const reading = 'value' in payload ? readCall(run.provider, payload.value) : undefined
  if (reading && isCall(reading) && reading.externalId !== externalId) {
    await fail('The provider returned a different call.')
    return 'done'
  }
  const integration = { ...run, org, id: run.integrationId }
  const bounds = { now: call.now, metadataBytes: deps.config.limits.metadataBytes }
  await applyPayload(deps, integration, readingOf(payload, integration, bounds), (trx, settled) =>
    settleFetched(trx, org, call, settled),
  )
  return 'done'
}

/** Completes a period after all its calls were listed and fetched. Starts the next period, or completes the run. */
export const finishWindow = (deps: Deps, attempt: Attempt, { org, run }: SyncState): Promise<StepOutcome> =>
  attempt.transaction(async (trx) => {
    const { id, integrationId, windowUntil, until } = run
    const sync = await lockSync(trx, org, integrationId)
    if (!sync || !(await lockRunningRun(trx, org, id))) return 'over'
    const now = deps.clock.now()
    if (windowUntil > sync.listedUntil) await updateSync(trx, org, integrationId, { listedUntil: windowUntil })
    if (windowUntil < until && run.pages < mostPages) {
      const next = new Date(Math.min(until.getTime(), windowUntil.getTime() + windowMs))
      await updateRun(trx, org, id, {
        windowFrom: windowUntil,
        windowUntil: next,
        pageCursor: null,
        windowListed: false,
      })
      return 'done'
    }
    await endRun(trx, org, id, { status: 'completed', reason: null, endedAt: now })
    await publishChanges(
      trx,
      org,
      { resource: 'integrations', kind: 'updated', ids: [integrationId] },
      { resource: 'health', kind: 'updated' },
    )
    await updateSync(trx, org, integrationId, { failures: 0, ...(windowUntil < until && { nextRunAt: now }) })
    return 'over'
  })

export const isSuperseded = (error: unknown): boolean => error instanceof Superseded
