// Defines the columns of the list of conversations: the default columns, and all that can be added.

import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { MessageSquare, Phone, Voicemail } from 'lucide-react'
import type { ReactNode } from 'react'
import { versionName, versionOptions } from '../agents/queries.ts'
import { useNames } from '../api/names.ts'
import { formatDuration, formatMoney, formatMs, formatNumber, formatPercent, sentenceCase } from '../lib/format.ts'
import { Badge, OutcomeBadge } from '../ui/badge.tsx'
import type { Column } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import styles from './conversations.module.css'
import { defaultColumns, type ViewColumn } from './default-columns.ts'
import type { Found, Included } from './queries.ts'
import { signalLabel } from './signal-names.ts'
import tagStyles from './tags.module.css'
import { useSounds } from './use-sounds.ts'

const channelIcons = { call: Phone, chat: MessageSquare, voicemail: Voicemail }

const Channel = ({ channel }: Pick<Found, 'channel'>) => {
  const Icon = channelIcons[channel]
  return <Icon className={styles.channel} role="img" aria-label={sentenceCase(channel)} />
}

/** Shows the unusual properties of a conversation. */
const State = ({ status, reviewStatus }: Found) => {
  if (status === 'failed') return <Badge tone="failed">Failed</Badge>
  if (status === 'in_progress') return <Badge tone="accent">In progress</Badge>
  return reviewStatus === 'completed' ? <Badge>Reviewed</Badge> : null
}

const Version = ({ agentId, id }: { agentId: string; id: string }) => {
  const { data } = useQuery(versionOptions(agentId, id))
  return data ? versionName(data) : null
}

const mostChips = 2

/** Shows the monitors that affect a conversation. */
const Affected = ({ results, nameOf }: { results: Found['results']; nameOf: (id: string) => string }) => {
  if (results === null) return <span className={styles.soft}>Hidden until you submit your review</span>
  const affected = (results ?? []).filter(({ result }) => result === 'affected')
  return (
    <span className={styles.chips} title={affected.map(({ monitorId }) => nameOf(monitorId)).join(', ')}>
      {affected.slice(0, mostChips).map(({ monitorId }) => (
        <Badge key={monitorId} tone="affected">
          <span className={styles.name}>{nameOf(monitorId)}</span>
        </Badge>
      ))}
      {affected.length > mostChips && <span className={styles.soft}>+{affected.length - mostChips}</span>}
    </span>
  )
}

const text = (value: unknown): ReactNode => {
  if (value === null || value === undefined) return null
  if (typeof value === 'number') return formatNumber(value)
  if (Array.isArray(value)) return value.join(', ')
  return typeof value === 'string' ? value : JSON.stringify(value)
}

type Definition = Omit<Column<Found>, 'key' | 'width' | 'label'> & { label: string; width?: number; share?: string }

const measureAt = (measures: unknown, name: string): unknown => {
  let value = measures
  for (const part of name.split('.')) value = (value as Record<string, unknown> | null | undefined)?.[part]
  return value
}

const formatMeasure = (name: string, value: number): string => {
  if (/ms\b(?!.*count)/i.test(name)) return formatMs(value)
  return /ratio$|share$/i.test(name) ? formatPercent(value) : formatNumber(value)
}

/** A column for a signal or a sound measure. */
const measured = (label: string, key: string, measuresOf: (row: Found) => unknown): Definition => {
  const name = key.slice(key.indexOf(':') + 1)
  return {
    label,
    width: 110,
    numeric: true,
    sortBy: key,
    cell: (row) => {
      const value = measureAt(measuresOf(row), name)
      return typeof value === 'number' && formatMeasure(name, value)
    },
  }
}

type NameOf = Record<'agents' | 'companies' | 'monitors' | 'sounds', (id: string) => string>

const properties: Record<string, (names: NameOf) => Definition> = {
  channel: () => ({ label: 'Channel', width: 48, min: 32, cell: (row) => <Channel {...row} /> }),
  direction: () => ({
    label: 'Direction',
    width: 96,
    cell: ({ direction }) => direction && sentenceCase(direction),
  }),
  status: () => ({ label: 'Status', width: 116, from: 480, cell: (row) => <State {...row} /> }),
  startedAt: () => ({
    label: 'Started',
    width: 116,
    sortBy: 'startedAt',
    cell: ({ startedAt }) => <Time at={startedAt} />,
  }),
  endedAt: () => ({ label: 'Ended', width: 116, cell: ({ endedAt }) => endedAt && <Time at={endedAt} /> }),
  durationSeconds: () => ({
    label: 'Duration',
    width: 92,
    numeric: true,
    sortBy: 'durationSeconds',
    cell: ({ durationSeconds }) => durationSeconds !== null && formatDuration(durationSeconds),
  }),
  agentId: (names) => ({ label: 'Agent', share: '1.2fr', cell: ({ agentId }) => names.agents(agentId) }),
  agentVersionId: () => ({
    label: 'Version',
    cell: ({ agentId, agentVersionId }) => agentVersionId && <Version agentId={agentId} id={agentVersionId} />,
  }),
  companyId: (names) => ({
    label: 'Company',
    from: 960,
    cell: ({ companyId }) => companyId && names.companies(companyId),
  }),
  customerId: () => ({ label: 'Customer', from: 720, cell: ({ customerId }) => customerId }),
  externalId: () => ({ label: 'External ID', cell: ({ externalId }) => externalId }),
  endReason: () => ({ label: 'End reason', from: 960, cell: ({ endReason }) => endReason }),
  reviewStatus: () => ({
    label: 'Review',
    width: 116,
    cell: ({ reviewStatus }) => (reviewStatus === 'none' ? null : sentenceCase(reviewStatus)),
  }),
  affected: (names) => ({
    label: 'Affected',
    share: '1.6fr',
    from: 480,
    min: 120,
    cell: ({ results }) => <Affected results={results} nameOf={names.monitors} />,
  }),
  findings: () => ({
    label: 'Findings',
    cell: ({ findings }) =>
      findings?.map(({ id, title }) => (
        <Link key={id} to="/findings/$id" params={{ id }} className={styles.finding}>
          {title}
        </Link>
      )),
  }),
  tags: () => ({
    label: 'Tags',
    min: 120,
    cell: ({ tags = [] }) => (
      <span className={styles.chips} title={tags.join(', ')}>
        {tags.map((tag) => (
          <span key={tag} className={tagStyles.tag}>
            {tag}
          </span>
        ))}
      </span>
    ),
  }),
  topic: () => ({ label: 'Topic', min: 120, cell: ({ topic }) => topic?.label }),
  excerpt: () => ({ label: 'First words', share: '2fr', min: 160, cell: ({ excerpt }) => excerpt }),
  cost: () => ({
    label: 'Cost',
    width: 84,
    numeric: true,
    cell: ({ cost }) => cost !== null && cost !== undefined && formatMoney(cost),
  }),
}

/** The columns with their own names, in the order of the dialog. */
export const propertyKeys = Object.keys(properties)

const resultOf = ({ results }: Found, id: string) => results?.find(({ monitorId }) => monitorId === id)

const parametrized: Record<string, (name: string, names: NameOf) => Definition> = {
  metadata: (name) => ({ label: name, cell: ({ metadata }) => text(metadata[name]) }),
  metric: (name) => ({
    label: name,
    sortBy: `metric:${name}`,
    cell: ({ metrics }) => text(metrics?.find(({ key }) => key === name)?.value),
  }),
  signal: (name) => measured(signalLabel(name), `signal:${name}`, ({ signals }) => signals),
  sound: (name, names) => measured(names.sounds(name), `sound:${name}`, ({ sound }) => sound),
  result: (id, names) => ({
    label: names.monitors(id),
    min: 120,
    cell: (row) => {
      const result = resultOf(row, id)
      return result && <OutcomeBadge {...result} />
    },
  }),
  categories: (id, names) => ({
    label: `${names.monitors(id)} categories`,
    cell: (row) => resultOf(row, id)?.categories?.join(', ').replaceAll('_', ' '),
  }),
  field: (name, names) => {
    const [id = '', field = ''] = name.split(':')
    return { label: `${names.monitors(id)} ${field}`, cell: (row) => text(resultOf(row, id)?.fields?.[field]) }
  },
  score: (id, names) => ({
    label: `${names.monitors(id)} score`,
    width: 110,
    numeric: true,
    sortBy: `score:${id}`,
    cell: (row) => {
      const score = resultOf(row, id)?.score ?? null
      return score === null ? null : formatNumber(score)
    },
  }),
}

const definitionOf = (key: string, names: NameOf): Definition | undefined => {
  const [kind = '', ...rest] = key.split(':')
  return rest.length === 0 ? properties[key]?.(names) : parametrized[kind]?.(rest.join(':'), names)
}

const includedBy: Record<string, Included> = {
  affected: 'results',
  result: 'results',
  categories: 'results',
  field: 'results',
  score: 'results',
  findings: 'findings',
  tags: 'tags',
  topic: 'topic',
  excerpt: 'excerpt',
  cost: 'cost',
  metric: 'metrics',
  sound: 'sound',
}

/** Returns the data that the columns need from a search, in a fixed order. */
export const includedFor = (columns: ViewColumn[], may: (included: Included) => boolean): Included[] => {
  const needed = columns.flatMap(({ key }) => includedBy[key.split(':')[0] ?? ''] ?? [])
  return [...new Set(needed)].filter(may).sort()
}

const useNameOf = (namesSounds: boolean): NameOf => {
  const sounds = useSounds(namesSounds)
  return {
    agents: useNames('agents').nameOf,
    companies: useNames('companies').nameOf,
    monitors: useNames('monitors').nameOf,
    sounds: (name) => sounds.find(({ value }) => value === name)?.label ?? name,
  }
}

/** Returns the label of a column. */
export const useColumnLabel = () => {
  const names = useNameOf(true)
  return (key: string): string => definitionOf(key, names)?.label ?? key
}

const leastWidth = 88

/** The first column of lists that are filtered by meaning. It can't be chosen. */
const similarity: Column<Found> = {
  key: 'similarity',
  label: 'Similarity',
  width: '104px',
  numeric: true,
  sortBy: 'similarity',
  cell: ({ similarPassage }) => similarPassage && formatNumber(similarPassage.similarity),
}

/** Returns the columns of the table. Default columns are hidden in narrow lists, and chosen columns scroll sideways. */
export const useColumns = (chosen: ViewColumn[] | undefined, hasSimilarity: boolean): Column<Found>[] => {
  const names = useNameOf(chosen !== undefined)
  const columns = (chosen ?? defaultColumns).flatMap(({ key, width: own }) => {
    const definition = definitionOf(key, names)
    if (!definition) return []
    const { width: usual, share, min, from, label, ...rest } = definition
    const width = own ?? usual
    return {
      ...rest,
      key,
      label: key === 'channel' ? <span className={styles.hidden}>{label}</span> : label,
      ...(width === undefined ? share && { width: share } : { width: `${width}px` }),
      ...(chosen === undefined ? from && { from } : { min: width ?? min ?? leastWidth }),
    }
  })
  return hasSimilarity ? [similarity, ...columns] : columns
}
