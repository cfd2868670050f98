import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { answer, api } from '../api/client.ts'
import { useList } from '../api/queries.ts'
import type { Schemas } from '../api/schema.d.ts'
import { formatMs, sentenceCase } from '../lib/format.ts'
import { announce } from '../ui/announce.tsx'
import { Badge, type Tone } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { Code } from '../ui/copy.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { ListTable } from '../ui/list-table.tsx'
import { Facts, Section } from '../ui/page.tsx'
import { Await, Empty, FaultNote } from '../ui/states.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { InspectButton, StateFilter, useStatusFilter, whyColumn } from './deliveries.tsx'
import { refresh, type WebhookDelivery, webhookDeliveriesOptions, webhookDeliveryOptions } from './queries.ts'
import styles from './settings.module.css'

const tones: Record<WebhookDelivery['status'], Tone> = { pending: 'accent', succeeded: 'clear', failed: 'failed' }

const statuses = Object.keys(tones) as WebhookDelivery['status'][]

const State = ({ status }: Pick<WebhookDelivery, 'status'>) => (
  <Badge tone={tones[status]}>{sentenceCase(status)}</Badge>
)

type Attempt = Schemas['WebhookDeliveryWithAttempts']['attempts'][number]

const attemptColumns: Column<Attempt>[] = [
  { key: 'number', label: 'Attempt', numeric: true, cell: ({ number }) => number },
  { key: 'at', label: 'Time', cell: ({ attemptedAt }) => <Time at={attemptedAt} /> },
  { key: 'took', label: 'Duration', numeric: true, from: 480, cell: ({ durationMs }) => formatMs(durationMs) },
  { key: 'status', label: 'Status', numeric: true, cell: ({ statusCode }) => statusCode },
  {
    key: 'answer',
    label: 'Response',
    cell: ({ error, answer: text }) => <span className={styles.wrap}>{error ?? text}</span>,
  },
]

const Inspect = ({ id, deliveryId, onClose }: { id: string; deliveryId: string; onClose: () => void }) => {
  const query = useQuery(webhookDeliveryOptions(id, deliveryId))
  const again = useMutation({
    mutationFn: () =>
      answer(
        api.POST('/v1/webhook-endpoints/{id}/deliveries/{deliveryId}/redeliver', {
          params: { path: { id, deliveryId } },
          body: {},
        }),
      ),
    onSuccess: async () => {
      await refresh('webhook-endpoints', id)
      announce('Delivery queued', 'The ID stays the same, and attempts start over.')
    },
  })
  return (
    <Dialog title="Delivery" open wide onClose={onClose}>
      <Await query={query}>
        {({ eventType, status, reason, nextAttemptAt, body, attempts }) => (
          <div className={styles.stack}>
            <Facts
              facts={[
                ['Event', <code key="event">{eventType}</code>],
                ['Status', <State key="state" status={status} />],
                ['Reason', reason],
                ['Webhook ID', <code key="id">msg_{deliveryId}</code>],
                ['Next attempt', nextAttemptAt && <Time at={nextAttemptAt} />],
              ]}
            />
            {attempts.length > 0 && (
              <Table label="Attempts" columns={attemptColumns} rows={attempts} idOf={({ number }) => String(number)} />
            )}
            <div className={styles.payload}>
              <Code label="Copy payload">{body}</Code>
            </div>
            {again.error && <FaultNote error={again.error} />}
            {status !== 'pending' && (
              <div>
                <Button busy={again.isPending} onClick={() => again.mutate()}>
                  Redeliver
                </Button>
              </div>
            )}
          </div>
        )}
      </Await>
    </Dialog>
  )
}

export const WebhookDeliveries = ({ id }: { id: string }) => {
  const [inspected, setInspected] = useState<string>()
  const statusFilter = useStatusFilter(statuses)
  const list = useList(webhookDeliveriesOptions(id, statusFilter))
  const columns: Column<WebhookDelivery>[] = [
    { key: 'at', label: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
    { key: 'event', label: 'Event', cell: ({ eventType }) => <code>{eventType}</code> },
    { key: 'state', label: 'Status', cell: (row) => <State {...row} /> },
    { key: 'attempts', label: 'Attempts', numeric: true, from: 720, cell: ({ attemptCount }) => attemptCount },
    whyColumn,
    {
      key: 'ways',
      label: '',
      cell: (row) => (
        <InspectButton what={`delivery created at ${row.createdAt}`} onClick={() => setInspected(row.id)} />
      ),
    },
  ]
  return (
    <Section
      title="Deliveries"
      context="Last 30 days"
      actions={<StateFilter id={id} states={statuses} asked={statusFilter} />}
    >
      <ListTable
        list={list}
        label="Deliveries"
        columns={columns}
        empty={
          <Empty title={statusFilter ? 'No deliveries with this status' : 'No deliveries yet'}>
            {!statusFilter && <p>An approved endpoint receives the events it subscribes to and test events.</p>}
          </Empty>
        }
      />
      {inspected && <Inspect id={id} deliveryId={inspected} onClose={() => setInspected(undefined)} />}
    </Section>
  )
}
