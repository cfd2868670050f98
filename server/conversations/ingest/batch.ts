import type { Readable } from 'node:stream'
import type { Static } from 'typebox'
import { recordAudit } from '../../platform/audit/record.ts'
import { ApiError } from '../../platform/errors.ts'
import { itemReader } from '../../platform/http/items.ts'
import type { Actor } from '../../platform/identity/actor.ts'
import { mapWithPauses } from '../../platform/map-with-pauses.ts'
import { type BatchAnswer, ConversationCreate } from '../schema.ts'
import { readBody } from './from-body.ts'
import type { Incoming, IngestOutcome } from './incoming.ts'
import { ingestConversations } from './ingest.ts'
import { chunksOfLines } from './lines.ts'
import { openSpool } from './spool.ts'
import type { IngestDeps } from './store.ts'

/** The number of conversations in a transaction. Larger transactions are not faster, but hold locks longer. */
const chunkItems = 500
/** The number of bytes from a stream that one transaction can keep in memory. */
const chunkBytes = 4 * 1024 * 1024

type ItemAnswer = Static<typeof BatchAnswer>['data'][number]

const readItem = itemReader(ConversationCreate)

const answerTo = (outcome: IngestOutcome): Omit<ItemAnswer, 'index'> => {
  if (outcome.status === 'rejected') return { status: 'rejected', error: outcome.error.body }
  if (outcome.status !== 'erased') return outcome
  return { status: 'rejected', error: erasedError().body }
}

export const erasedError = () =>
  new ApiError('conflict', 'The conversation with this externalId was erased and cannot be created again.')

/** Returns an error if the item has metrics that the organization isn't allowed to store. */
export const metricsRefusal = ({ entitlements }: Actor, { metrics }: Incoming): ApiError | undefined =>
  metrics.length > 0 && !entitlements.metrics
    ? new ApiError('forbidden', 'Your organization needs the Metrics entitlement.')
    : undefined

/** Stores the valid items and returns each item's outcome. The first chunk of a request writes its audit event. */
const openBatch = (deps: IngestDeps, actor: Actor) => {
  let next = 0
  const bounds = { now: deps.clock.now(), metadataBytes: deps.config.limits.metadataBytes }
  const check = (item: unknown): Incoming | ApiError => {
    if (item instanceof ApiError) return item
    const body = readItem(item)
    const read = body instanceof ApiError ? body : readBody(body, bounds)
    return read instanceof ApiError ? read : (metricsRefusal(actor, read) ?? read)
  }
  return async (items: unknown[]): Promise<ItemAnswer[]> => {
    const first = next
    next += items.length
    const checked = await mapWithPauses(items, check)
    const sound = checked.filter((item) => !(item instanceof ApiError))
    const outcomes = await ingestConversations(deps, actor.org, sound, async (trx) => {
      if (first === 0) await recordAudit(trx, actor, 'conversation.batch')
    })
    const nextOutcomes = outcomes.values()
    return checked.map((item, at) => {
      const outcome: IngestOutcome =
        item instanceof ApiError ? { status: 'rejected', error: item } : nextOf(nextOutcomes)
      return { index: first + at, ...answerTo(outcome) }
    })
  }
}

const nextOf = <T>(values: Iterator<T>): T => {
  const { value, done } = values.next()
  if (done) throw new Error('Fewer results than items')
  return value
}

export const ingestList = async (deps: IngestDeps, actor: Actor, items: unknown[]): Promise<{ data: ItemAnswer[] }> => {
  const store = openBatch(deps, actor)
  const data: ItemAnswer[] = []
  for (let at = 0; at < items.length; at += chunkItems) data.push(...(await store(items.slice(at, at + chunkItems))))
  return { data }
}

/**
 * Responds after the entire stream is stored. If it fails in between, the stored items remain and can be sent again.
 */
export const ingestStream = async (deps: IngestDeps, actor: Actor, lines: Readable): Promise<Readable> => {
  const store = openBatch(deps, actor)
  const spool = openSpool()
  try {
    let separator = ''
    const limits = { items: chunkItems, bytes: chunkBytes, lineBytes: deps.config.limits.documentBytes }
    for await (const chunk of chunksOfLines(lines, limits)) {
      const answers = await store(chunk)
      await spool.add(separator + answers.map((answer) => JSON.stringify(answer)).join(','))
      separator = ','
    }
    // An empty stream needs an audit event too.
    if (separator === '') await store([])
    return spool.read('{"data":[', ']}')
  } catch (error) {
    await spool.close()
    throw error
  }
}
