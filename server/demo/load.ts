import { findCompaniesByName, insertCompany } from '../companies/queries.ts'
import { ingestConversations } from '../conversations/ingest/ingest.ts'
import type { Deps } from '../deps.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import { newId } from '../platform/ids.ts'
import { companyNames } from './cast.ts'
import { daysFor, type Maker, makeConversation } from './conversation.ts'

const batchSize = 500
/** More than one, so that the database works while the next batch is made. */
const lanes = 2

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

/** Fills an organization. What is there already stays as it is, so a load that was cut off can be run again. */
export const loadDemo = async (deps: Deps, org: OrgId, options: DemoOptions): Promise<void> => {
  const { calls, seed, anchor, signal, onProgress } = options
  const companies = await findOrMakeCompanies(deps.db, org)
  const maker: Maker = { seed, anchor, days: daysFor(calls), companies }
  let next = 0
  let stored = 0
  const work = async (): Promise<void> => {
    while (next < calls) {
      signal.throwIfAborted()
      const from = next
      next = Math.min(calls, from + batchSize)
      const items = Array.from({ length: next - from }, (_, at) => makeConversation(maker, from + at))
      const outcomes = await ingestConversations(deps, org, items)
      const refused = outcomes.find((outcome) => outcome.status === 'rejected')
      if (refused) throw refused.error
      stored += items.length
      onProgress(stored)
    }
  }
  await Promise.all(Array.from({ length: lanes }, work))
}
