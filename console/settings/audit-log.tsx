import { Link } from '@tanstack/react-router'
import { useNames } from '../api/names.ts'
import { useList } from '../api/queries.ts'
import { sentenceCase } from '../lib/format.ts'
import { ListTable } from '../ui/list-table.tsx'
import { Section } from '../ui/page.tsx'
import { Empty } from '../ui/states.tsx'
import type { Column } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { type AuditEvent, auditOptions, keysOptions } from './queries.ts'
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

/** Links to the target if its type has a page. If the target was deleted, that page says so. */
const Touched = ({ type, id }: Target) => {
  const word = `${sentenceCase(type.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))} ${id.slice(0, 8)}…`
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

export const AuditLog = () => {
  const actorOf = useActor()
  const list = useList(auditOptions)
  const columns: Column<AuditEvent>[] = [
    { key: 'at', label: 'Time', cell: ({ createdAt }) => <Time at={createdAt} /> },
    { key: 'who', label: 'Actor', cell: ({ actor }) => actorOf(actor) },
    { key: 'action', label: 'Action', cell: ({ action }) => <code>{action}</code> },
    {
      key: 'targets',
      label: 'Targets',
      from: 480 as const,
      cell: ({ targets }) => (
        <span className={styles.targets}>
          {targets.slice(0, named).map((target) => (
            <Touched key={target.type + target.id} {...target} />
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
      <ListTable list={list} label="Audit log" columns={columns} lines={10} empty={<Empty title="No changes yet" />} />
    </Section>
  )
}
