// Converts the columns of a list of conversations to cells of a file.

import { scorecardOf } from '../../monitors/definition.ts'
import type { ExtractOutput } from '../../monitors/judges/definition.ts'
import { itemsOf } from '../../monitors/scorecards/definition.ts'
import type { Column } from '../../saved-views/columns.ts'
import type { ConversationCell } from '../generation/order.ts'
import type { Property } from '../generation/queries.ts'
import { slugsOf } from '../layout.ts'
import type { CallType } from '../slice.ts'

const typeOf: Record<Property, CallType> = {
  external_id: 'text',
  started_at: 'timestamp',
  ended_at: 'timestamp',
  duration_seconds: 'integer',
  channel: 'word',
  direction: 'word',
  status: 'word',
  end_reason: 'word',
  agent_id: 'uuid',
  agent_name: 'name',
  agent_version: 'integer',
  company_id: 'uuid',
  company_name: 'name',
  customer_id: 'text',
  review_status: 'word',
  findings: 'list',
  tags: 'list',
  topic_id: 'uuid',
  topic_name: 'name',
  regions: 'json',
  cost: 'number',
}

/** A column that shows a name in the list becomes two columns in the file: one for the ID and one for the name. */
const propertiesOf: Record<string, Property[]> = {
  channel: ['channel'],
  direction: ['direction'],
  status: ['status'],
  startedAt: ['started_at'],
  endedAt: ['ended_at'],
  durationSeconds: ['duration_seconds'],
  agentId: ['agent_id', 'agent_name'],
  agentVersionId: ['agent_version'],
  companyId: ['company_id', 'company_name'],
  customerId: ['customer_id'],
  externalId: ['external_id'],
  endReason: ['end_reason'],
  reviewStatus: ['review_status'],
  findings: ['findings'],
  tags: ['tags'],
  topic: ['topic_id', 'topic_name'],
  cost: ['cost'],
}

/**
 * Converts `responseLatencyMs.p95` to `response_latency_ms_p95`. Characters other than letters and digits become `_`.
 */
const snake = (name: string): string =>
  name
    .replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, '_')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, '_')

const named: Record<string, (name: string) => ConversationCell> = {
  metadata: (key) => ({ name: `metadata_${snake(key)}`, type: 'value', source: { kind: 'metadata', key } }),
  metric: (key) => ({ name: `metric_${snake(key)}`, type: 'value', source: { kind: 'metric', key } }),
  signal: (path) => ({ name: snake(path), type: 'number', source: { kind: 'signal', path: path.split('.') } }),
  sound: (path) => ({ name: `sound_${snake(path)}`, type: 'number', source: { kind: 'sound', path: path.split('.') } }),
  result: (monitorId) => ({ name: 'result', type: 'word', source: { kind: 'result', monitorId } }),
  score: (monitorId) => ({ name: 'score', type: 'number', source: { kind: 'score', monitorId } }),
  categories: (monitorId) => ({ name: 'categories', type: 'list', source: { kind: 'categories', monitorId } }),
  field: (name) => {
    const [monitorId = '', field = ''] = name.split(':')
    return { name: snake(field), type: 'value', source: { kind: 'field', monitorId, field, as: 'value' } }
  },
}

const cellsOf = (key: string): ConversationCell[] => {
  if (key === 'affected') return [{ name: 'affected', type: 'list', source: { kind: 'affected' } }]
  if (key === 'excerpt') return [{ name: 'first_words', type: 'text', source: { kind: 'excerpt' } }]
  const [kind = '', ...rest] = key.split(':')
  const cell = rest.length > 0 ? named[kind]?.(rest.join(':')) : undefined
  if (cell) return [cell]
  return (propertiesOf[key] ?? []).map((property) => ({
    name: property,
    type: typeOf[property],
    source: { kind: 'property', property },
  }))
}

/** The approximate width of a character in a sheet, in pixels. */
const pixels = 7

/** Whether to show these columns after those of the list. */
type Added = { transcripts: boolean; regions: boolean }

/** Returns the cells for columns that `parseColumns` has validated. Column widths become those of the sheet. */
export const cellsOfColumns = (columns: Column[], { transcripts, regions }: Added): ConversationCell[] => {
  const cells = columns.flatMap(({ key, width }) =>
    cellsOf(key).map((cell) => ({ ...cell, ...(width !== undefined && { width: Math.round(width / pixels) }) })),
  )
  if (transcripts) cells.push({ name: 'transcript', type: 'json', source: { kind: 'transcript' } })
  if (regions) cells.push({ name: 'regions', type: 'json', source: { kind: 'property', property: 'regions' } })
  return cells
}

type Monitor = { id: string; kind: string; definition: Record<string, unknown> }

/** Returns the type of each field that judges extract. */
const fieldTypes = (monitors: Monitor[]): Map<string, string> =>
  new Map(
    monitors.flatMap(({ id, definition }) => {
      // Definitions were validated when they were stored.
      const { fields } = (definition.output ?? {}) as Partial<ExtractOutput>
      return Array.isArray(fields) ? fields.map(({ key, type }): [string, string] => [`${id} ${key}`, type]) : []
    }),
  )

/** Sets the column types for the numbers and lists that judges extract. Other fields can have any value. */
export const withFieldTypes = (cells: ConversationCell[], monitors: Monitor[]): ConversationCell[] => {
  const types = fieldTypes(monitors)
  return cells.map((cell) => {
    const { source } = cell
    if (source.kind !== 'field') return cell
    const type = types.get(`${source.monitorId} ${source.field}`)
    return type === 'number' || type === 'list' ? { ...cell, type, source: { ...source, as: type } } : cell
  })
}

/** Returns the monitors that scorecards contain as items. */
export const itemsOfScorecards = (monitors: Monitor[]): string[] =>
  monitors.flatMap((monitor) => {
    const scorecard = scorecardOf(monitor)
    return scorecard ? itemsOf(scorecard).map(({ item }) => item.monitorId) : []
  })

/** Returns the cells for scorecards: the band of each scorecard, and the outcome for each item. */
export const cellsOfScorecards = (monitors: Monitor[], names: Map<string, string>): ConversationCell[] =>
  monitors.flatMap((monitor): ConversationCell[] => {
    const { id: monitorId } = monitor
    const itemIds = itemsOfScorecards([monitor])
    if (itemIds.length === 0) return []
    const slugs = slugsOf(itemIds.map((id) => names.get(id) ?? ''))
    return [
      { name: 'band', type: 'name', source: { kind: 'scorecard', monitorId, itemId: null } },
      ...itemIds.map((itemId, at): ConversationCell => {
        return { name: slugs[at] ?? '', type: 'word', source: { kind: 'scorecard', monitorId, itemId } }
      }),
    ]
  })

/** PostgreSQL can return at most 1,664 columns, and some of them are needed for other values. */
const mostScorecardColumns = 1_500

/** Returns an error message if the monitors' scorecards have more columns than can be exported. */
export const findTooManyColumns = (monitors: Monitor[]): string | undefined => {
  const scorecards = monitors.filter((monitor) => scorecardOf(monitor) !== undefined)
  const columns = scorecards.length + itemsOfScorecards(scorecards).length
  if (columns <= mostScorecardColumns) return undefined
  const most = mostScorecardColumns.toLocaleString('en-US')
  const given = columns.toLocaleString('en-US')
  return `can have up to ${most} columns for the bands and items of scorecards, but these have ${given}; remove some`
}

/** Returns the monitors that columns refer to, each with its path. */
export const monitorsOfColumns = (columns: Column[]): { path: string; id: string }[] =>
  columns.flatMap(({ key }, index) => {
    const [, id] = /^(?:result|score|categories|field):([^:]*)/.exec(key) ?? []
    return id === undefined ? [] : [{ path: `columns[${index}].key`, id }]
  })
