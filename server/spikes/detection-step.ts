import { fileSpike } from '../findings/file.ts'
import { lockStandingFinding } from '../findings/lock.ts'
import { findMonitors } from '../monitors/queries.ts'
import { recordServiceAudit } from '../platform/audit/record.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { hourMs } from '../platform/durations.ts'
import { describeRise } from './describe.ts'
import { type Detector, type Hour, newDetector, observe, withoutSpike } from './detector.ts'
import {
  countScored,
  type HourRange,
  listAffected,
  listHours,
  lockState,
  type SpikeState,
  saveState,
} from './queries.ts'

/** The number of hours for which an hour's late results count. */
const closingHours = 2
/** Older results are not part of the history. */
const historyHours = 56 * 24
/** The maximum number of hours that one transaction reads. */
const hoursOfStep = 7 * 24
/** If a spike ended earlier than this, it is not reported. */
const newsHours = 7 * 24
const attachedAtOnce = 100

const startOf = (hour: number): Date => new Date(hour * hourMs)
const hourOf = (instant: Date): number => Math.floor(instant.getTime() / hourMs)
const nextHourOf = (instant: Date): number => Math.ceil(instant.getTime() / hourMs)

/** Returns the range of calls that count. It ends with the last closed hour. */
export const rangeAt = (now: Date): HourRange => {
  const until = hourOf(now) - closingHours
  return { since: startOf(until - historyHours), until: startOf(until) }
}

type State = SpikeState & { detector: Detector }

const newState = (version: number, nextHour: Date): State => ({
  version,
  nextHour,
  detector: newDetector,
  findingId: null,
})

const latest = (...instants: Date[]): Date => new Date(Math.max(...instants.map(Number)))

/** Returns the stored state if it is still valid, and otherwise a new one. */
const readState = (stored: SpikeState, version: number, { since }: HourRange): State => {
  // The detector's `form` shows whether its other properties have the current format.
  const detector = stored.detector as Detector
  const holds = stored.version === version && detector.form === newDetector.form && stored.nextHour >= since
  return holds ? { ...stored, detector } : newState(version, since)
}

/**
 * Ends a spike if people have resolved or ignored its finding. Resolving starts the test over, and ignoring makes the
 * current rate the new baseline. If the finding was merged, the target finding counts.
 */
const heedClosing = async (trx: Db, org: OrgId, state: State, { since }: HourRange): Promise<State> => {
  if (state.findingId === null) return state
  const { status, statusChangedAt } = await lockStandingFinding(trx, org, state.findingId)
  if (status === 'resolved') {
    const nextHour = latest(state.nextHour, startOf(nextHourOf(statusChangedAt)))
    return { ...state, nextHour, detector: withoutSpike(state.detector), findingId: null }
  }
  if (status === 'ignored') {
    const { spike } = state.detector
    return newState(state.version, spike ? latest(since, startOf(spike.since)) : state.nextHour)
  }
  return state
}

type Raised = { since: number; until: number; baseline: number }

/** Counts the hours, and returns the periods in which the rate was elevated. */
const follow = (before: Detector, hours: Hour[], newsFrom: number) => {
  let detector = before
  const raised: Raised[] = []
  for (const hour of hours) {
    detector = observe(detector, hour)
    if (!detector.spike || hour.hour < newsFrom) continue
    const { spike, baseline } = detector
    const last = raised.at(-1)
    if (last?.since === spike.since) last.until = hour.hour + 1
    else raised.push({ since: spike.since, until: hour.hour + 1, baseline: baseline.affected / baseline.calls })
  }
  return { detector, raised }
}

type Monitor = { id: string; name: string }

type Step = { now: Date; jobId: string }

type StepDeps = Pick<Deps, 'jobs' | 'clock' | 'reactions'>

/** Returns the finding of the spike, if there is one. */
const report = async (
  deps: StepDeps,
  trx: Db,
  org: OrgId,
  monitor: Monitor,
  state: State,
  raised: Raised,
  { now, jobId }: Step,
): Promise<string | null> => {
  const span = {
    monitorId: monitor.id,
    version: state.version,
    since: startOf(raised.since),
    until: startOf(raised.until),
  }
  // A conversation that was detached stays detached.
  const since = state.findingId === null ? span.since : latest(span.since, state.nextHour)
  const filed = await fileSpike(deps, trx, org, {
    monitorId: monitor.id,
    now,
    affected: () => listAffected(trx, org, { ...span, since }, attachedAtOnce),
    tell: async () => {
      const counts = await countScored(trx, org, span)
      return describeRise({
        ...counts,
        monitor: monitor.name,
        version: state.version,
        since: span.since,
        baseline: raised.baseline,
      })
    },
  })
  if (filed?.news) {
    const job = { kind: 'service', keyId: null, requestId: jobId } as const
    const action = filed.news === 'created' ? 'finding.create' : 'finding.reopen'
    await recordServiceAudit(trx, org, job, action, { type: 'finding', id: filed.id })
  }
  return filed?.id ?? null
}

/**
 * Counts a monitor's next closed hours and reports spikes, in one transaction. Each hour is counted once. Returns
 * whether there are more.
 */
export const detectInMonitor = async (
  deps: StepDeps,
  trx: Db,
  org: OrgId,
  monitorId: string,
  step: Step,
): Promise<boolean> => {
  const [monitor] = await findMonitors(trx, org, [monitorId])
  if (!monitor?.enabled) return false
  const range = rangeAt(step.now)
  const stored = await lockState(trx, org, monitorId, newState(monitor.number, range.since))
  const state = await heedClosing(trx, org, readState(stored, monitor.number, range), range)

  const until = Math.min(hourOf(range.until), hourOf(state.nextHour) + hoursOfStep)
  const span = { monitorId, version: state.version, since: state.nextHour, until: startOf(until) }
  const newsFrom = hourOf(range.until) - newsHours
  const hours = (await listHours(trx, org, span)).map(({ start, ...counts }) => ({ hour: hourOf(start), ...counts }))
  const { detector, raised } = follow(state.detector, hours, newsFrom)
  let { findingId } = state
  for (const one of raised) findingId = await report(deps, trx, org, monitor, { ...state, findingId }, one, step)
  await saveState(trx, org, monitorId, {
    version: state.version,
    nextHour: latest(state.nextHour, startOf(until)),
    detector,
    findingId: detector.spike ? findingId : null,
  })
  return until < hourOf(range.until)
}
