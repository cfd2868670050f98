import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { answer, api } from '../api/client.ts'
import { useList } from '../api/queries.ts'
import { useMay } from '../api/session.ts'
import { sentenceCase } from '../lib/format.ts'
import { announce } from '../ui/announce.tsx'
import { Badge, type Tone } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { ListTable } from '../ui/list-table.tsx'
import { Facts, Section } from '../ui/page.tsx'
import { Await, Empty, FaultNote } from '../ui/states.tsx'
import type { Column } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { StateFilter, useStatusFilter, whyColumn } from './deliveries.tsx'
import { DestinationDialog, kindNames } from './destination-dialog.tsx'
import { DestinationState } from './destinations.tsx'
import {
  type Destination,
  type DestinationDelivery,
  destinationDeliveriesOptions,
  destinationOptions,
  endpointsOptions,
  membersOptions,
  refresh,
} from './queries.ts'
import styles from './settings.module.css'

type OpenDialog = 'edit' | 'delete'

const Ways = ({ destination }: { destination: Destination }) => {
  const { id, name, status } = destination
  const params = { path: { id } }
  const navigate = useNavigate()
  const [dialog, setDialog] = useState<OpenDialog>()
  const close = () => setDialog(undefined)
  const act = useMutation({
    mutationFn: async (what: 'test' | 'toggle') => {
      if (what === 'test') await answer(api.POST('/v1/destinations/{id}/test', { params, body: {} }))
      else {
        const next = status === 'active' ? 'disabled' : 'active'
        await answer(api.PATCH('/v1/destinations/{id}', { params, body: { status: next } }))
      }
      return what
    },
    onSuccess: async (what) => {
      await refresh('destinations')
      if (what === 'test') announce('Test sent', 'See the result under Deliveries.')
    },
  })
  return (
    <div className={styles.stack}>
      <div className={styles.ways}>
        {status === 'active' && (
          <Button busy={act.isPending} onClick={() => act.mutate('test')}>
            Send test
          </Button>
        )}
        <Button onClick={() => setDialog('edit')}>Edit</Button>
        <Button look="quiet" busy={act.isPending} onClick={() => act.mutate('toggle')}>
          {status === 'active' ? 'Disable' : 'Enable'}
        </Button>
        <Button look="quiet" onClick={() => setDialog('delete')}>
          Delete
        </Button>
      </div>
      {act.error && <FaultNote error={act.error} />}
      {dialog === 'edit' && <DestinationDialog destination={destination} onClose={close} />}
      <Confirm
        title={`Delete “${name}”?`}
        action="Delete destination"
        open={dialog === 'delete'}
        onClose={close}
        run={async () => {
          await api.DELETE('/v1/destinations/{id}', { params })
          announce(`“${name}” deleted`)
          await navigate({ to: '/settings/$part', params: { part: 'destinations' } })
          await refresh('destinations')
        }}
      >
        This also deletes its deliveries. Alert rules will stop using this destination.
      </Confirm>
    </div>
  )
}

const SettingsFacts = ({ destination: { settings } }: { destination: Destination }) => {
  const members = useList(membersOptions)
  const endpoints = useList(endpointsOptions)
  const { url, routingKey, apiKey, region, addresses, memberIds, endpointId } = settings as {
    url?: string
    routingKey?: string
    apiKey?: string
    region?: string
    addresses?: string[]
    memberIds?: string[]
    endpointId?: string
  }
  const memberNames = memberIds?.map((id) => members.rows?.find((row) => row.id === id)?.name ?? id.slice(0, 8)) ?? []
  const facts: [string, ReactNode][] = [
    ...(url ? [['URL', <code key="url">{url}</code>] as [string, ReactNode]] : []),
    ...(routingKey ? [['Integration key', <code key="key">{routingKey}</code>] as [string, ReactNode]] : []),
    ...(apiKey ? [['API key', <code key="key">{apiKey}</code>] as [string, ReactNode]] : []),
    ...(region ? [['Region', region.toUpperCase()] as [string, ReactNode]] : []),
    ...(addresses ? [['Sent to', [...addresses, ...memberNames].join(', ')] as [string, ReactNode]] : []),
    ...(endpointId
      ? [['Endpoint', endpoints.rows?.find((row) => row.id === endpointId)?.name ?? endpointId] as [string, ReactNode]]
      : []),
  ]
  return <Facts facts={facts} />
}

const tones: Record<DestinationDelivery['status'], Tone> = {
  pending: 'accent',
  succeeded: 'clear',
  failed: 'failed',
  superseded: 'unscored',
}

const statuses = Object.keys(tones) as DestinationDelivery['status'][]

const Deliveries = ({ id }: { id: string }) => {
  const statusFilter = useStatusFilter(statuses)
  const list = useList(destinationDeliveriesOptions(id, statusFilter))
  const again = useMutation({
    mutationFn: (deliveryId: string) =>
      answer(
        api.POST('/v1/destinations/{id}/deliveries/{deliveryId}/redeliver', {
          params: { path: { id, deliveryId } },
          body: {},
        }),
      ),
    onSuccess: () => refresh('destinations', id),
  })
  const columns: Column<DestinationDelivery>[] = [
    { key: 'at', label: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
    { key: 'title', label: 'Message', from: 480, cell: ({ title }) => title },
    { key: 'state', label: 'Status', cell: ({ status }) => <Badge tone={tones[status]}>{sentenceCase(status)}</Badge> },
    { key: 'attempts', label: 'Attempts', numeric: true, from: 960, cell: ({ attemptCount }) => attemptCount },
    whyColumn,
    {
      key: 'ways',
      label: '',
      cell: (row) =>
        row.status === 'failed' && (
          <div className={styles.cellWays}>
            <Button
              small
              look="quiet"
              aria-label={`Redeliver message created at ${row.createdAt}`}
              onClick={() => again.mutate(row.id)}
            >
              Redeliver
            </Button>
          </div>
        ),
    },
  ]
  return (
    <Section
      title="Deliveries"
      context="Last 30 days"
      actions={<StateFilter id={id} states={statuses} asked={statusFilter} />}
    >
      {again.error && <FaultNote error={again.error} />}
      <ListTable
        list={list}
        label="Deliveries"
        columns={columns}
        empty={
          <Empty title={statusFilter ? 'No deliveries with this status' : 'No deliveries yet'}>
            {!statusFilter && <p>Send a test to check the settings.</p>}
          </Empty>
        }
      />
    </Section>
  )
}

export const DestinationView = ({ id }: { id: string }) => {
  const query = useQuery(destinationOptions(id))
  const isAdmin = useMay('admin')
  const isMember = useMay('member')
  return (
    <>
      <Link to="/settings/$part" params={{ part: 'destinations' }}>
        Destinations
      </Link>
      <Await query={query}>
        {(destination) => (
          <Section title={destination.name}>
            <div className={styles.stack}>
              <Facts
                facts={[
                  ['Status', <DestinationState key="state" {...destination} />],
                  ['Type', kindNames[destination.kind]],
                ]}
              />
              <SettingsFacts destination={destination} />
              {isAdmin && <Ways destination={destination} />}
            </div>
          </Section>
        )}
      </Await>
      {isMember && <Deliveries id={id} />}
    </>
  )
}
