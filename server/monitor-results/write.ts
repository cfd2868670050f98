import type { Static } from 'typebox'
import { faultOfNames, idsOfNamed } from '../conversations/named.ts'
import { findNamedConversations } from '../conversations/queries.ts'
import { redact } from '../conversations/redaction.ts'
import { redactsMetrics } from '../customer-metrics/queries.ts'
import type { Deps } from '../deps.ts'
import { findMonitors } from '../monitors/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import { ApiError, notFound } from '../platform/errors.ts'
import { itemReader } from '../platform/http/items.ts'
import { type ResultRow, upsertResults } from './queries.ts'
import { longestReasoning, ResultItem } from './schema.ts'
import { tellOfResults } from './tell.ts'

type Item = Static<typeof ResultItem>

type ResultOutcome =
  | { index: number; status: 'created' | 'updated' | 'unchanged' }
  | { index: number; status: 'rejected'; error: ApiError['body'] }

const readShape = itemReader(ResultItem)

const readItem = (given: unknown): Item | ApiError => {
  const item = readShape(given)
  if (item instanceof ApiError) return item
  return faultOfNames(item) ?? item
}

type Told = Pick<ResultRow, 'reasoning' | 'evidence'>

/** What stands for an address may be longer than it. */
const redacted = (told: Told): Told => {
  const { reasoning, evidence } = redact(told) as Told
  const isLong = reasoning !== null && reasoning.length > longestReasoning
  return { reasoning: isLong ? [...reasoning].slice(0, longestReasoning).join('') : reasoning, evidence }
}

/**
 * Writes what fits of a batch and tells what became of each item. Of several for one monitor and conversation the last
 * wins, and all of them tell what became of it.
 */
export const writeBatch = async (
  deps: Pick<Deps, 'clock' | 'jobs'>,
  trx: Db,
  org: OrgId,
  given: unknown[],
): Promise<ResultOutcome[]> => {
  const read = given.map(readItem)
  const items = read.flatMap((item) => (item instanceof ApiError ? [] : item))
  const conversationOf = await idsOfNamed(items, (names) => findNamedConversations(trx, org, names))
  const found = await findMonitors(trx, org, [...new Set(items.map(({ monitorId }) => monitorId.toLowerCase()))])
  const monitors = new Map(found.map((monitor) => [monitor.id, monitor]))
  const redacts = await redactsMetrics(trx, org)

  const rowOf = (item: Item | ApiError): ResultRow | ApiError => {
    if (item instanceof ApiError) return item
    const monitor = monitors.get(item.monitorId.toLowerCase())
    const conversationId = conversationOf(item)
    if (!monitor || conversationId === undefined) return notFound()
    if (monitor.kind !== 'external') {
      return new ApiError('conflict', `Results of a ${monitor.kind} monitor are its own; name one of kind external.`)
    }
    const { result, score = null, reasoning = null, evidence = [], evaluatedAt } = item
    const told = { reasoning, evidence }
    return {
      conversationId,
      monitorId: monitor.id,
      monitorVersion: monitor.number,
      ...(result === 'unscored'
        ? { status: 'unscored' as const, result: null }
        : { status: 'scored' as const, result }),
      score,
      ...(redacts ? redacted(told) : told),
      evaluatedAt: evaluatedAt === undefined ? null : new Date(evaluatedAt),
      evaluator: 'external',
      tokens: null,
      cost: null,
    }
  }
  const rows = read.map(rowOf)
  const sound = rows.flatMap((row) => (row instanceof ApiError ? [] : row))
  const outcomes = new Map(
    (await upsertResults(trx, org, sound, deps.clock.now())).map((outcome, at) => [sound[at], outcome]),
  )
  await tellOfResults(deps, trx, org, sound)
  return rows.map((row, index): ResultOutcome => {
    if (row instanceof ApiError) return { index, status: 'rejected', error: row.body }
    const outcome = outcomes.get(row) ?? 'absent'
    // Deleted since it was found.
    return outcome === 'absent' ? { index, status: 'rejected', error: notFound().body } : { index, status: outcome }
  })
}
