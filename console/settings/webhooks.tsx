import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useList } from '../api/queries.ts'
import { useMay } from '../api/session.ts'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { ListTable } from '../ui/list-table.tsx'
import { Section } from '../ui/page.tsx'
import { Empty } from '../ui/states.tsx'
import type { Column } from '../ui/table.tsx'
import { type Endpoint, endpointsOptions } from './queries.ts'
import styles from './settings.module.css'
import { Webhook } from './webhook.tsx'
import { WebhookDialog } from './webhook-dialog.tsx'

const reasons = { by_admin: 'by an admin', gone: 'returned 410', failing: 'failed for days' }

export const EndpointState = ({ status, disabledReason, failingSince }: Endpoint) => {
  if (status === 'proposed') return <Badge tone="accent">Awaiting approval</Badge>
  if (status === 'disabled')
    return <Badge tone="unscored">Disabled{disabledReason && `: ${reasons[disabledReason]}`}</Badge>
  return failingSince ? <Badge tone="failed">Failing</Badge> : <Badge tone="clear">Active</Badge>
}

const columns: Column<Endpoint>[] = [
  {
    key: 'name',
    label: 'Endpoint',
    cell: ({ id, name }) => (
      <Link to="/settings/$part" params={{ part: 'webhooks' }} search={{ open: id }}>
        {name}
      </Link>
    ),
  },
  { key: 'state', label: 'Status', cell: (row) => <EndpointState {...row} /> },
  {
    key: 'url',
    label: 'URL',
    from: 720 as const,
    cell: ({ url }) => (
      <div className={styles.long} title={url}>
        {url}
      </div>
    ),
  },
  { key: 'events', label: 'Events', numeric: true, from: 480, cell: ({ events }) => events.length },
]

const List = () => {
  const [adding, setAdding] = useState(false)
  const mayWrite = useMay('member')
  const navigate = useNavigate()
  const list = useList(endpointsOptions)
  const add = mayWrite && (
    <Button look="primary" onClick={() => setAdding(true)}>
      Propose endpoint
    </Button>
  )
  return (
    <Section title="Webhooks" context="Send events to your server" actions={list.rows?.length !== 0 && add}>
      <ListTable
        list={list}
        label="Webhook endpoints"
        columns={columns}
        empty={
          <Empty title="No endpoints yet" action={add}>
            <p>
              Earshot can send your server a signed request when an export is ready, a finding changes, or a review is
              completed. Members propose endpoints, and admins approve them.
            </p>
          </Empty>
        }
      />
      {adding && (
        <WebhookDialog
          onClose={() => setAdding(false)}
          onSaved={(id) => void navigate({ to: '/settings/$part', params: { part: 'webhooks' }, search: { open: id } })}
        />
      )}
    </Section>
  )
}

export const Webhooks = () => {
  const { open } = useSearch({ from: '/app/settings/$part' })
  return open ? <Webhook key={open} id={open} /> : <List />
}
