import type { Static } from 'typebox'
import { redactValue } from '../conversations/ingest/tasks.ts'
import { redactsMetrics } from '../conversations/metrics/queries.ts'
import { findNamedConversations } from '../conversations/queries.ts'
import { faultOfNames, idsOfNamed } from '../conversations/resolve-ids.ts'
import { isOpen, notApplicable, other } from '../filters/category.ts'
import { findMonitors } from '../monitors/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { ApiError, invalid, notFound } from '../platform/errors.ts'
import { itemReader } from '../platform/http/items.ts'
import { mapWithPauses } from '../platform/map-with-pauses.ts'
import { noResult } from './no-result.ts'
import { type FieldValue, type ResultRow, upsertResults } from './queries.ts'
import { longestReasoning, longestValue, ResultItem } from './schema.ts'
import { announceResults } from './store-results.ts'

type Item = Static<typeof ResultItem>

type ResultOutcome =
  | { index: number; status: 'created' | 'updated' | 'unchanged' }
  | { index: number; status: 'rejected'; error: ApiError['body'] }

const readShape = itemReader(ResultItem)

/** Returns an error if categories that don't decide the result come with a result that is decided. */
const faultOfCategories = ({ categories, result }: Item): ApiError | undefined => {
  if (!categories) return undefined
  const isNotApplicable = categories.includes(notApplicable)
  if (isNotApplicable && categories.length > 1)
    return invalid('categories', `must be empty except for ${notApplicable}`)
  if (isNotApplicable && result !== 'unscored') return invalid('result', `must be unscored if it is ${notApplicable}`)
  if (isOpen(categories) && result === 'not_affected') {
    return invalid('result', `must be unscored or affected if the category is ${other}`)
  }
  return undefined
}

const readItem = (given: unknown): Item | ApiError => {
  const item = readShape(given)
  if (item instanceof ApiError) return item
  return faultOfNames(item) ?? faultOfCategories(item) ?? item
}

type ReportedDetails = Pick<ResultRow, 'reasoning' | 'evidence' | 'fields'>

const detailsOf = ({ reasoning = null, evidence = [], fields = null }: Item): ReportedDetails => ({
  reasoning,
  evidence,
  fields,
})

const shorten = (text: string, length: number): string =>
  text.length > length ? [...text].slice(0, length).join('') : text

const shortenValue = (value: FieldValue): FieldValue =>
  typeof value === 'string' ? shorten(value, longestValue) : value

/** Shortens text after redaction, because the replacement of an address can be longer than the address. */
const cut = ({ reasoning, evidence, fields }: ReportedDetails): ReportedDetails => ({
  reasoning: reasoning && shorten(reasoning, longestReasoning),
  evidence,
  fields: fields && Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, shortenValue(value)])),
})

const redactAll = async (
  { threads }: Pick<Deps, 'threads'>,
  org: OrgId,
  items: Item[],
): Promise<Map<Item, ReportedDetails>> => {
  const redactedDetails = await redactValue(threads, org, items.map(detailsOf))
  return new Map(redactedDetails.map((each, at) => [items[at] as Item, cut(each)])) // Redaction keeps the length of an array
}

/**
 * Writes the valid items in a batch and returns each item's outcome. If several items have the same monitor and
 * conversation, the last one is stored, and all of them return its outcome.
 */
export const writeBatch = async (
  deps: Pick<Deps, 'clock' | 'threads' | 'reactions'>,
  trx: Db,
  org: OrgId,
  given: unknown[],
): Promise<ResultOutcome[]> => {
  const read = await mapWithPauses(given, readItem)
  const items = read.flatMap((item) => (item instanceof ApiError ? [] : item))
  const conversationOf = await idsOfNamed(items, (names) => findNamedConversations(trx, org, names))
  const found = await findMonitors(trx, org, [...new Set(items.map(({ monitorId }) => monitorId.toLowerCase()))])
  const monitors = new Map(found.map((monitor) => [monitor.id, monitor]))
  const redacted = (await redactsMetrics(trx, org)) ? await redactAll(deps, org, items) : undefined

  const rowOf = (item: Item | ApiError): ResultRow | ApiError => {
    if (item instanceof ApiError) return item
    const monitor = monitors.get(item.monitorId.toLowerCase())
    const conversationId = conversationOf(item)
    if (!monitor || conversationId === undefined) return notFound()
    if (monitor.kind !== 'external') {
      return new ApiError(
        'conflict',
        `You can only send results of external monitors, and this is a ${monitor.kind} monitor.`,
      )
    }
    const { result, score = null, evaluatedAt, categories = null } = item
    return {
      ...noResult,
      conversationId,
      monitorId: monitor.id,
      monitorVersion: monitor.number,
      ...(result === 'unscored'
        ? { status: 'unscored' as const, result: null }
        : { status: 'scored' as const, result }),
      score,
      categories,
      ...(redacted?.get(item) ?? detailsOf(item)),
      evaluatedAt: evaluatedAt === undefined ? null : new Date(evaluatedAt),
      evaluator: 'external',
    }
  }
  const rows = read.map(rowOf)
  const sound = rows.flatMap((row) => (row instanceof ApiError ? [] : row))
  const outcomes = new Map(
    (await upsertResults(trx, org, sound, deps.clock.now())).map((outcome, at) => [sound[at], outcome]),
  )
  await announceResults(deps, trx, org, sound)
  return rows.map((row, index): ResultOutcome => {
    if (row instanceof ApiError) return { index, status: 'rejected', error: row.body }
    const outcome = outcomes.get(row) ?? 'absent'
    // The monitor or the conversation was deleted after the evaluation.
    return outcome === 'absent' ? { index, status: 'rejected', error: notFound().body } : { index, status: outcome }
  })
}
