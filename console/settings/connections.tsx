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

/** Returns the number of recent deliveries that weren't applied. */
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
    label: 'Last delivery',
    cell: ({ lastDeliveryAt }) =>
      lastDeliveryAt ? <Time at={lastDeliveryAt} ago /> : <span className={styles.soft}>None yet</span>,
  },
  {
    key: 'applied',
    label: 'Applied, 7 days',
    numeric: true,
    from: 720 as const,
    cell: ({ id, name, recentDeliveries: { applied } }) => (
      <Link
        to="/settings/$part"
        params={{ part: 'connections' }}
        search={{ open: id, status: 'applied' }}
        aria-label={`${formatCount(applied)} applied for ${name}`}
      >
        {formatCount(applied)}
      </Link>
    ),
  },
  {
    key: 'refused',
    label: 'Not applied',
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
      Create connection
    </Button>
  )
  return (
    <Section
      title="Connections"
      context="Platforms that send their conversations to Earshot"
      actions={list.rows?.length !== 0 && add}
    >
      <ListTable
        list={list}
        label="Connections"
        columns={columns}
        empty={
          <Empty title="No connections yet" action={add}>
            <p>
              Vapi, Retell, ElevenLabs, Twilio, and LiveKit can send each conversation in a webhook when it ends. Create
              a connection, then set its webhook URL in the platform.
            </p>
            {!isAdmin && <p>Only admins can create connections.</p>}
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
