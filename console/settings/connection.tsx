import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { answer, api } from '../api/client.ts'
import { useList } from '../api/queries.ts'
import { useMay } from '../api/session.ts'
import { formatBytes, formatCount, sentenceCase } from '../lib/format.ts'
import { announce } from '../ui/announce.tsx'
import { Badge, type Tone } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { Code, Copy } from '../ui/copy.tsx'
import { Confirm, Dialog } from '../ui/dialog.tsx'
import { ListTable } from '../ui/list-table.tsx'
import { Facts, Section } from '../ui/page.tsx'
import { Await, Empty, FaultNote } from '../ui/states.tsx'
import type { Column } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { ConnectionDialog, providerNames, SecretDialog } from './connection-dialog.tsx'
import { ConnectionSteps } from './connection-steps.tsx'
import { ConnectionSync } from './connection-sync.tsx'
import { InspectButton, StateFilter, useStatusFilter, whyColumn } from './deliveries.tsx'
import {
  type IntegrationDelivery,
  integrationDeliveriesOptions,
  integrationDeliveryOptions,
  integrationOptions,
  refresh,
} from './queries.ts'
import styles from './settings.module.css'

type Status = IntegrationDelivery['status']

const tones: Record<Status, Tone> = {
  pending: 'accent',
  applied: 'clear',
  unchanged: 'plain',
  ignored: 'plain',
  unreadable: 'failed',
  rejected: 'failed',
  erased: 'plain',
  failed: 'failed',
}

const statuses = Object.keys(tones) as Status[]

/** Indents the payload if it is JSON. */
const readable = (payload: string): string => {
  try {
    return JSON.stringify(JSON.parse(payload), null, 2)
  } catch {
    return payload
  }
}

const Inspect = ({ id, deliveryId, onClose }: { id: string; deliveryId: string; onClose: () => void }) => {
  const query = useQuery(integrationDeliveryOptions(id, deliveryId))
  const replay = useMutation({
    mutationFn: () =>
      answer(
        api.POST('/v1/integrations/{id}/deliveries/{deliveryId}/replay', {
          params: { path: { id, deliveryId } },
          body: {},
        }),
      ),
    onSuccess: async ({ status }) => {
      await Promise.all([refresh('integrations', id), refresh('conversations')])
      announce('Delivery replayed', `New status: ${status}.`)
    },
  })
  return (
    <Dialog title="Delivery" open wide onClose={onClose}>
      <Await query={query}>
        {({ status, event, reason, receivedAt, bytes, contentType, conversationId, payload, replayable }) => (
          <div className={styles.stack}>
            <Facts
              facts={[
                [
                  'Status',
                  <Badge key="state" tone={tones[status]}>
                    {sentenceCase(status)}
                  </Badge>,
                ],
                ['Reason', reason],
                ['Event', event && <code>{event}</code>],
                ['Received', <Time key="received" at={receivedAt} />],
                ['Size', `${formatBytes(bytes)} · ${contentType ?? 'no content type'}`],
                [
                  'Conversation',
                  conversationId && (
                    <Link to="/conversations/$id" params={{ id: conversationId }} search={{}}>
                      View conversation
                    </Link>
                  ),
                ],
              ]}
            />
            {payload === null ? (
              <p className={styles.soft}>The payload is no longer stored.</p>
            ) : (
              <div className={styles.payload}>
                <Code label="Copy payload">{readable(payload)}</Code>
              </div>
            )}
            {replay.error && <FaultNote error={replay.error} />}
            {replayable && (
              <div>
                <Button busy={replay.isPending} onClick={() => replay.mutate()}>
                  Replay
                </Button>
              </div>
            )}
          </div>
        )}
      </Await>
    </Dialog>
  )
}

const Deliveries = ({ id }: { id: string }) => {
  const isAdmin = useMay('admin')
  const [inspected, setInspected] = useState<string>()
  const statusFilter = useStatusFilter(statuses)
  const list = useList(integrationDeliveriesOptions(id, statusFilter))
  const columns: Column<IntegrationDelivery>[] = [
    { key: 'at', label: 'Received', cell: ({ receivedAt }) => <Time at={receivedAt} /> },
    {
      key: 'state',
      label: 'Status',
      cell: (row) => <Badge tone={tones[row.status]}>{sentenceCase(row.status)}</Badge>,
    },
    { key: 'event', label: 'Event', from: 480, cell: ({ event }) => event && <code>{event}</code> },
    whyColumn,
    {
      key: 'ways',
      label: '',
      cell: (row) =>
        isAdmin && (
          <InspectButton what={`delivery received at ${row.receivedAt}`} onClick={() => setInspected(row.id)} />
        ),
    },
  ]
  return (
    <Section
      title="Deliveries"
      context="Webhooks from the provider, newest first"
      actions={<StateFilter id={id} states={statuses} asked={statusFilter} />}
    >
      <ListTable
        list={list}
        label="Deliveries"
        columns={columns}
        empty={
          <Empty title={statusFilter ? 'No deliveries with this status' : 'No deliveries yet'}>
            {!statusFilter && <p>Set the webhook URL above in your provider, then make a call.</p>}
          </Empty>
        }
      />
      {inspected && <Inspect id={id} deliveryId={inspected} onClose={() => setInspected(undefined)} />}
    </Section>
  )
}

/** Returns whether the platform has an API that lists its calls. */
const isListed = (provider: string) => ['vapi', 'retell', 'elevenlabs'].includes(provider)

export const Connection = ({ id }: { id: string }) => {
  const query = useQuery(integrationOptions(id))
  const isAdmin = useMay('admin')
  const navigate = useNavigate()
  const [asked, setAsked] = useState<'edit' | 'secret' | 'delete'>()
  const close = () => setAsked(undefined)
  return (
    <>
      <Link to="/settings/$part" params={{ part: 'connections' }}>
        Connections
      </Link>
      <Await query={query}>
        {(integration) => {
          const { name, provider, webhookPath, lastDeliveryAt, previousSecretUntil, recentDeliveries } = integration
          const address = location.origin + webhookPath
          const counted = statuses.filter((status) => recentDeliveries[status] > 0)
          return (
            <Section
              title={name}
              context={providerNames[provider]}
              actions={
                isAdmin && (
                  <>
                    <Button look="quiet" onClick={() => setAsked('delete')}>
                      Delete
                    </Button>
                    <Button onClick={() => setAsked('secret')}>Rotate secret</Button>
                    <Button onClick={() => setAsked('edit')}>Edit</Button>
                  </>
                )
              }
            >
              <Facts
                facts={[
                  [
                    'Webhook URL',
                    <span key="address" className={styles.address}>
                      <code>{address}</code> <Copy text={address} label="Copy webhook URL" />
                    </span>,
                  ],
                  ['Last delivery', lastDeliveryAt ? <Time key="heard" at={lastDeliveryAt} ago /> : 'None yet'],
                  [
                    'Last 7 days',
                    counted.length === 0 ? (
                      'No deliveries'
                    ) : (
                      <span key="counted" className={styles.targets}>
                        {counted.map((status) => (
                          <Link
                            key={status}
                            to="/settings/$part"
                            params={{ part: 'connections' }}
                            search={{ open: id, status }}
                          >
                            {formatCount(recentDeliveries[status])} {status}
                          </Link>
                        ))}
                      </span>
                    ),
                  ],
                  ...(previousSecretUntil
                    ? [
                        ['Previous secret expires', <Time key="until" at={previousSecretUntil} />] as [
                          string,
                          React.ReactNode,
                        ],
                      ]
                    : []),
                ]}
              />
              {asked === 'edit' && <ConnectionDialog integration={integration} onClose={close} />}
              {asked === 'secret' && <SecretDialog integration={integration} onClose={close} />}
              <Confirm
                title={`Delete “${name}”?`}
                action="Delete connection"
                open={asked === 'delete'}
                onClose={close}
                run={async () => {
                  await api.DELETE('/v1/integrations/{id}', { params: { path: { id } } })
                  announce(`“${name}” deleted`)
                  await navigate({ to: '/settings/$part', params: { part: 'connections' } })
                  await refresh('integrations')
                }}
              >
                This deletes its webhook URL and deliveries. Earshot will reject new webhooks from the provider.
                Conversations are kept.
              </Confirm>
            </Section>
          )
        }}
      </Await>
      {query.data?.lastDeliveryAt === null && (
        <ConnectionSteps provider={query.data.provider} address={location.origin + query.data.webhookPath} />
      )}
      {query.data && isListed(query.data.provider) && <ConnectionSync id={id} isSet={query.data.sync !== null} />}
      <Deliveries id={id} />
    </>
  )
}
