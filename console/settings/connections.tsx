import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useList } from '../api/queries.ts'
import { useMay } from '../api/session.ts'
import { formatCount } from '../lib/format.ts'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { ListTable } from '../ui/list-table.tsx'
import { Section } from '../ui/page.tsx'
import { Empty } from '../ui/states.tsx'
import type { Column } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { Connection } from './connection.tsx'
import { ConnectionDialog, providerNames } from './connection-dialog.tsx'
import { type Integration, integrationsOptions } from './queries.ts'
import styles from './settings.module.css'

/** What came in the last days and was not taken. */
const troubles = ({ recentDeliveries: { unreadable, rejected, failed } }: Integration): number =>
  unreadable + rejected + failed

const columns: Column<Integration>[] = [
  {
    key: 'name',
    label: 'Connection',
    cell: ({ id, name }) => (
      <Link to="/settings/$part" params={{ part: 'connections' }} search={{ open: id }}>
        {name}
      </Link>
    ),
  },
  { key: 'provider', label: 'Provider', from: 480, cell: ({ provider }) => providerNames[provider] },
  {
    key: 'heard',
    label: 'Last heard',
    cell: ({ lastDeliveryAt }) =>
      lastDeliveryAt ? <Time at={lastDeliveryAt} ago /> : <span className={styles.soft}>never yet</span>,
  },
  {
    key: 'applied',
    label: 'Taken in 7 days',
    numeric: true,
    from: 720 as const,
    cell: ({ id, name, recentDeliveries: { applied } }) => (
      <Link
        to="/settings/$part"
        params={{ part: 'connections' }}
        search={{ open: id, status: 'applied' }}
        aria-label={`${formatCount(applied)} taken by ${name}`}
      >
        {formatCount(applied)}
      </Link>
    ),
  },
  {
    key: 'refused',
    label: 'Not taken',
    numeric: true,
    from: 720 as const,
    cell: (row) =>
      troubles(row) > 0 ? <Badge tone="failed">{formatCount(troubles(row))}</Badge> : formatCount(troubles(row)),
  },
]

const List = () => {
  const [adding, setAdding] = useState(false)
  const isAdmin = useMay('admin')
  const navigate = useNavigate()
  const list = useList(integrationsOptions)
  const add = isAdmin && (
    <Button look="primary" onClick={() => setAdding(true)}>
      Connect a platform
    </Button>
  )
  return (
    <Section
      title="Connections"
      context="Platforms that send what your agents said"
      actions={list.rows?.length !== 0 && add}
    >
      <ListTable
        list={list}
        label="Connections"
        columns={columns}
        empty={
          <Empty title="No platform is connected" action={add}>
            <p>
              Vapi, Retell, ElevenLabs, Twilio and LiveKit send each conversation by a webhook of theirs as it ends.
              Make a connection, and give them its address.
            </p>
            {!isAdmin && <p>Admins of your organization make connections.</p>}
          </Empty>
        }
      />
      {adding && (
        <ConnectionDialog
          onClose={() => setAdding(false)}
          onSaved={({ id }) =>
            void navigate({ to: '/settings/$part', params: { part: 'connections' }, search: { open: id } })
          }
        />
      )}
    </Section>
  )
}

export const Connections = () => {
  const { open } = useSearch({ from: '/app/settings/$part' })
  return open ? <Connection key={open} id={open} /> : <List />
}
