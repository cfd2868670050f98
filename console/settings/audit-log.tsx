import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useNames } from '../api/names.ts'
import { useList } from '../api/queries.ts'
import { sentenceCase } from '../lib/format.ts'
import { Input, Select } from '../ui/controls.tsx'
import { ListTable } from '../ui/list-table.tsx'
import { Section } from '../ui/page.tsx'
import { Empty } from '../ui/states.tsx'
import type { Column } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { type AuditEvent, type AuditFilter, auditOptions, keysOptions } from './queries.ts'
import type { SettingsSearch } from './search.ts'
import styles from './settings.module.css'

type Target = AuditEvent['targets'][number]

const pages = {
  agent: '/agents/$id',
  bucket: '/buckets/$id',
  company: '/companies/$id',
  conversation: '/conversations/$id',
  experiment: '/experiments/$id',
  finding: '/findings/$id',
  monitor: '/monitors/$id',
} as const

const isPaged = (type: string): type is keyof typeof pages => Object.hasOwn(pages, type)

const wordOf = (type: string): string => sentenceCase(type.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))

const useTargetNames = () => {
  const named = {
    agent: useNames('agents'),
    agentGroup: useNames('agentGroups'),
    bucket: useNames('buckets'),
    company: useNames('companies'),
    monitor: useNames('monitors'),
  }
  return ({ type, id }: Target): string =>
    Object.hasOwn(named, type) ? named[type as keyof typeof named].nameOf(id) : `${id.slice(0, 8)}…`
}

/** Links to the target if its type has a page. If the target was deleted, that page shows an error. */
const Touched = ({ type, id, name }: Target & { name: string }) => {
  const word = `${wordOf(type)} ${name}`
  return isPaged(type) ? (
    <Link to={pages[type]} params={{ id }} search={{}} title={id}>
      {word}
    </Link>
  ) : (
    <span title={id}>{word}</span>
  )
}

const useActor = () => {
  const people = useNames('members')
  const { rows: keys = [] } = useList(keysOptions)
  return ({ kind, userId, keyId }: AuditEvent['actor']) => {
    if (userId === null) return kind === 'service' ? 'Operator' : 'Earshot'
    const key = keyId && (keys.find(({ id }) => id === keyId)?.name ?? `${keyId.slice(0, 8)}…`)
    return key ? `${people.nameOf(userId)} (API key ${key})` : people.nameOf(userId)
  }
}

/** The number of targets to show for each event. */
const named = 3

const resources = [
  'agent',
  'agentGroup',
  'alertIncident',
  'alertRule',
  'apiKey',
  'board',
  'bucket',
  'company',
  'conversation',
  'destination',
  'experiment',
  'finding',
  'integration',
  'member',
  'monitor',
  'organization',
  'ownershipRule',
  'review',
  'savedView',
  'session',
  'topic',
  'user',
  'webhookEndpoint',
]

const startOfDay = (day: string): Date => new Date(`${day}T00:00:00`)

const nextDay = (day: string): Date => {
  const start = startOfDay(day)
  start.setDate(start.getDate() + 1)
  return start
}

const isDay = (day: string | undefined): day is string =>
  day !== undefined && /^\d{4}-\d\d-\d\d$/.test(day) && !Number.isNaN(startOfDay(day).getTime())

const isId = (id: string | undefined): id is string =>
  id !== undefined && /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(id)

const filterOf = ({ about, by, from, to }: SettingsSearch): AuditFilter => ({
  ...(about !== undefined && resources.includes(about) && { action: about }),
  ...(isId(by) && { userId: by }),
  ...(isDay(from) && { since: startOfDay(from).toISOString() }),
  ...(isDay(to) && (!isDay(from) || to >= from) && { until: nextDay(to).toISOString() }),
})

const AuditFilters = ({ search }: { search: SettingsSearch }) => {
  const navigate = useNavigate({ from: '/settings/$part' })
  const { options: people } = useNames('members')
  const change =
    (name: 'about' | 'by' | 'from' | 'to') =>
    ({ target }: { target: { value: string } }) => {
      const { [name]: _, ...others } = search
      void navigate({ search: { ...others, ...(target.value && { [name]: target.value }) }, replace: true })
    }
  return (
    <div className={styles.filters}>
      <Select
        aria-label="Resource"
        value={search.about ?? ''}
        options={[
          { value: '', label: 'All resources' },
          ...resources.map((value) => ({ value, label: wordOf(value) })),
        ]}
        onChange={change('about')}
      />
      <Select
        aria-label="Person"
        value={search.by ?? ''}
        options={[{ value: '', label: 'Everyone' }, ...people]}
        onChange={change('by')}
      />
      <Input type="date" aria-label="From" value={search.from ?? ''} max={search.to} onChange={change('from')} />
      <Input type="date" aria-label="To" value={search.to ?? ''} min={search.from} onChange={change('to')} />
    </div>
  )
}

export const AuditLog = () => {
  const search = useSearch({ from: '/app/settings/$part' })
  const actorOf = useActor()
  const nameOf = useTargetNames()
  const filter = filterOf(search)
  const isFiltered = Object.keys(filter).length > 0
  const list = useList(auditOptions(filter))
  const columns: Column<AuditEvent>[] = [
    { key: 'at', label: 'Time', cell: ({ createdAt }) => <Time at={createdAt} /> },
    { key: 'who', label: 'Actor', cell: ({ actor }) => actorOf(actor) },
    {
      key: 'action',
      label: 'Action',
      cell: ({ action, reason }) => (
        <>
          <code>{action}</code>
          {reason !== null && <p className={styles.soft}>{reason}</p>}
        </>
      ),
    },
    {
      key: 'targets',
      label: 'Targets',
      from: 480 as const,
      cell: ({ targets }) => (
        <span className={styles.targets}>
          {targets.slice(0, named).map((target) => (
            <Touched key={target.type + target.id} {...target} name={nameOf(target)} />
          ))}
          {targets.length > named && <span className={styles.soft}>and {targets.length - named} more</span>}
        </span>
      ),
    },
    {
      key: 'request',
      label: 'Request ID',
      from: 960 as const,
      cell: ({ requestId }) => <code title={requestId}>{requestId.slice(0, 13)}…</code>,
    },
  ]
  return (
    <Section title="Audit log" context="Every change in your organization, newest first">
      <AuditFilters search={search} />
      <ListTable
        list={list}
        label="Audit log"
        columns={columns}
        lines={10}
        empty={<Empty title={isFiltered ? 'No changes match' : 'No changes yet'} />}
      />
    </Section>
  )
}
