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
import { DestinationView } from './destination.tsx'
import { DestinationDialog, kindNames } from './destination-dialog.tsx'
import { type Destination, destinationsOptions } from './queries.ts'

export const DestinationState = ({ status, failingSince }: Pick<Destination, 'status' | 'failingSince'>) => {
  if (status === 'disabled') return <Badge tone="unscored">Disabled</Badge>
  return failingSince ? <Badge tone="failed">Failing</Badge> : <Badge tone="clear">Active</Badge>
}

const columns: Column<Destination>[] = [
  {
    key: 'name',
    label: 'Destination',
    cell: ({ id, name }) => (
      <Link to="/settings/$part" params={{ part: 'destinations' }} search={{ open: id }}>
        {name}
      </Link>
    ),
  },
  { key: 'kind', label: 'Type', from: 480, cell: ({ kind }) => kindNames[kind] },
  { key: 'state', label: 'Status', cell: (destination) => <DestinationState {...destination} /> },
]

const List = () => {
  const [adding, setAdding] = useState(false)
  const isAdmin = useMay('admin')
  const navigate = useNavigate()
  const list = useList(destinationsOptions)
  const add = isAdmin && (
    <Button look="primary" onClick={() => setAdding(true)}>
      Create destination
    </Button>
  )
  return (
    <Section title="Destinations" context="Where alerts are sent" actions={list.rows?.length !== 0 && add}>
      <ListTable
        list={list}
        label="Destinations"
        columns={columns}
        empty={
          <Empty title="No destinations yet" action={add}>
            <p>
              Earshot can send alerts to Slack, Microsoft Teams, email, PagerDuty, Opsgenie, and your own server.
              {!isAdmin && ' Only admins can create destinations.'}
            </p>
          </Empty>
        }
      />
      {adding && (
        <DestinationDialog
          onClose={() => setAdding(false)}
          onSaved={(id) =>
            void navigate({ to: '/settings/$part', params: { part: 'destinations' }, search: { open: id } })
          }
        />
      )}
    </Section>
  )
}

export const Destinations = () => {
  const { open } = useSearch({ from: '/app/settings/$part' })
  return open ? <DestinationView key={open} id={open} /> : <List />
}
