import { findCompaniesByName, insertCompany } from '../companies/queries.ts'
import type { Incoming, IngestOutcome } from '../conversations/ingest/incoming.ts'
import { ingestConversations } from '../conversations/ingest/ingest.ts'
import type { ServiceDeps } from '../deps.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import { refreshStatistics } from '../platform/db/refresh-statistics.ts'
import { newId } from '../platform/ids.ts'
import { cast, companyNames } from './cast.ts'
import { type DemoTurn, daysFor, type Maker, makeConversation } from './conversation.ts'
import { type RecordedCall, recordingFaults, storeRecording } from './recording.ts'
import type { Voice } from './speech.ts'

const batchSize = 500
/** With more than one lane, the database works while the next batch is generated. */
const lanes = 2
/**
 * The number of calls with a recording. They are the newest calls, which people see first. Generating speech takes
 * about a second for each.
 */
const mostRecordings = 12
const callsPerRecording = 200

export type DemoOptions = {
  calls: number
  seed: number
  anchor: Date
  signal: AbortSignal
  onProgress: (stored: number) => void
}

const findOrMakeCompanies = async (db: Db, org: OrgId) => {
  const present = await findCompaniesByName(db, org, [...companyNames])
  const missing = companyNames.filter((name) => !present.some((company) => company.name === name))
  for (const name of missing) present.push(await insertCompany(db, org, { id: newId(), name }))
  return present
}

type Call = RecordedCall & { startedAt: Date }

const customerVoices: readonly Voice[] = ['awb', 'slt', 'rms']

/** Returns different voices for the two sides. A customer always has the same voice. */
const voicesOf = ({ agent, customerId }: Incoming): RecordedCall['voices'] => {
  const voice = cast.find(({ externalId }) => 'externalId' in agent && externalId === agent.externalId)?.voice ?? 'rms'
  const others = customerVoices.filter((other) => other !== voice)
  return { agent: voice, customer: others[Number(customerId?.at(-1)) % 2] ?? 'awb' }
}

/** Returns the calls in a batch that can have a recording, which requires times. */
const callsOf = (items: Incoming[], outcomes: IngestOutcome[]): Call[] =>
  items.flatMap((item, at) => {
    const { channel, transcript, startedAt, endedAt } = item
    const outcome = outcomes[at]
    // The demo created the transcripts in Earshot's own format.
    const turns = transcript as DemoTurn[]
    if (channel !== 'call' || !outcome || !('id' in outcome) || turns[0]?.startMs === undefined || !endedAt) return []
    const durationMs = endedAt.getTime() - startedAt.getTime()
    return [{ conversationId: outcome.id, turns, durationMs, startedAt, voices: voicesOf(item) }]
  })

const newest = (calls: Call[], count: number): Call[] =>
  calls.sort((a, b) => b.startedAt.getTime() - a.startedAt.getTime()).slice(0, count)

/** Loads the demo data into an organization. Existing data does not change, so an interrupted load can be repeated. */
export const loadDemo = async (deps: ServiceDeps, org: OrgId, options: DemoOptions): Promise<void> => {
  const { calls, seed, anchor, signal, onProgress } = options
  const companies = await findOrMakeCompanies(deps.db, org)
  const maker: Maker = { seed, anchor, days: daysFor(calls), companies }
  let next = 0
  let stored = 0
  const recordings = Math.min(mostRecordings, Math.ceil(calls / callsPerRecording))
  let recorded: Call[] = []
  const work = async (): Promise<void> => {
    while (next < calls) {
      signal.throwIfAborted()
      const from = next
      next = Math.min(calls, from + batchSize)
      const items = Array.from({ length: next - from }, (_, at) => makeConversation(maker, from + at))
      const outcomes = await ingestConversations(deps, org, items)
      const refused = outcomes.find((outcome) => outcome.status === 'rejected')
      if (refused) throw refused.error
      recorded = newest([...recorded, ...callsOf(items, outcomes)], recordings)
      stored += items.length
      onProgress(stored)
    }
  }
  await Promise.all(Array.from({ length: lanes }, work))
  await refreshStatistics(deps.db, 'conversations')
  for (const [at, call] of recorded.entries()) {
    // Every second recording has a fault until each kind of fault has occurred.
    const fault = (at % 2 === 1 && recordingFaults[(at - 1) / 2]) || 'none'
    await storeRecording(deps, org, { ...call, fault }, signal)
  }
}
