import type { Static } from 'typebox'
import type { Db, OrgId } from '../../platform/db/database.ts'
import type { Deps } from '../../platform/deps.ts'
import { ApiError, notFound } from '../../platform/errors.ts'
import { itemReader } from '../../platform/http/items.ts'
import { mapWithPauses } from '../../platform/map-with-pauses.ts'
import { redact } from '../../transcripts/redaction.ts'
import { redactValue } from '../ingest/tasks.ts'
import { lockNamedConversations } from '../queries.ts'
import { faultOfNames, idsOfNamed } from '../resolve-ids.ts'
import { maxKeys } from './metric.ts'
import { listMetricKeys, type MetricRow, redactsMetrics, writeMetrics } from './queries.ts'
import { MetricItem } from './schema.ts'

type Item = Static<typeof MetricItem>

export type MetricOutcome =
  | { index: number; status: 'created' | 'updated' | 'unchanged' }
  | { index: number; status: 'rejected'; error: ApiError['body'] }

/** The outcome of each item, and the conversations with changed metrics. */
type Written = { data: MetricOutcome[]; changed: string[] }

const readShape = itemReader(MetricItem)

const readItem = (given: unknown): Item | ApiError => {
  const item = readShape(given)
  if (item instanceof ApiError) return item
  return faultOfNames(item) ?? item
}

/** Identifies a row within a batch. */
const placeOf = ({ conversationId, key }: Pick<MetricRow, 'conversationId' | 'key'>) => `${conversationId} ${key}`

const countKeys = async (trx: Db, org: OrgId, ids: string[]): Promise<Map<string, Set<string>>> => {
  const rows = await listMetricKeys(trx, org, [...new Set(ids)])
  return new Map(rows.map(({ conversationId, keys }) => [conversationId, new Set(keys)]))
}

/**
 * Writes the valid items in a batch and returns each item's outcome. If several items have the same key, the last one
 * is stored, and all of them return its outcome.
 */
export const writeBatch = async (
  { threads }: Pick<Deps, 'threads'>,
  trx: Db,
  org: OrgId,
  given: unknown[],
): Promise<Written> => {
  const read = await mapWithPauses(given, readItem)
  const items = read.flatMap((item) => (item instanceof ApiError ? [] : item))
  const idOf = await idsOfNamed(items, (names) => lockNamedConversations(trx, org, names))
  const contents = items.map(({ value, comment = null }) => ({ value, comment }))
  const stored = (await redactsMetrics(trx, org)) ? await redactValue(threads, org, contents) : contents
  const storable = new Map(stored.map((each, at) => [items[at], each]))
  const found = items.flatMap((item) => idOf(item) ?? [])
  const keys = found.length === 0 ? new Map<string, Set<string>>() : await countKeys(trx, org, found)

  const rowOf = (item: Item | ApiError): MetricRow | ApiError => {
    if (item instanceof ApiError) return item
    const conversationId = idOf(item)
    if (conversationId === undefined) return notFound()
    const { key, value, comment = null } = item
    const row: MetricRow = { conversationId, key, ...(storable.get(item) ?? { value, comment }) }
    const known = keys.get(conversationId) ?? new Set()
    if (known.size >= maxKeys && !known.has(key)) return tooManyKeys()
    keys.set(conversationId, known.add(key))
    return row
  }
  const rows = read.map(rowOf)
  const written = await writeMetrics(
    trx,
    org,
    rows.flatMap((row) => (row instanceof ApiError ? [] : row)),
  )
  const created = new Map(written.map((row) => [placeOf(row), row.created]))
  const data = rows.map((row, index): MetricOutcome => {
    if (row instanceof ApiError) return { index, status: 'rejected', error: row.body }
    const isNew = created.get(placeOf(row))
    return { index, status: isNew === undefined ? 'unchanged' : isNew ? 'created' : 'updated' }
  })
  return { data, changed: [...new Set(written.map(({ conversationId }) => conversationId))] }
}

const tooManyKeys = () =>
  new ApiError('conflict', `A conversation can have at most ${maxKeys} metrics. Delete one first.`)

/** Redacts a metric if redaction is enabled. A number that looks like a card number becomes a redacted string. */
const storable = (
  redacts: boolean,
  metric: Pick<MetricRow, 'value' | 'comment'>,
): Pick<MetricRow, 'value' | 'comment'> => (redacts ? (redact(metric) as Pick<MetricRow, 'value' | 'comment'>) : metric)

/** Writes one metric. Returns whether its key is new. */
export const writeMetric = async (trx: Db, org: OrgId, row: MetricRow): Promise<boolean> => {
  const [conversation] = await lockNamedConversations(trx, org, { ids: [row.conversationId], externalIds: [] })
  if (!conversation) throw notFound()
  const [known] = await listMetricKeys(trx, org, [row.conversationId])
  const isNew = !known?.keys.includes(row.key)
  if (isNew && known && known.keys.length >= maxKeys) throw tooManyKeys()
  const redacts = await redactsMetrics(trx, org)
  await writeMetrics(trx, org, [{ ...row, ...storable(redacts, row) }])
  return isNew
}
