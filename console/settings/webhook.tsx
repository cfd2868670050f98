import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { answer, api } from '../api/client.ts'
import { useNames } from '../api/names.ts'
import { useMay } from '../api/session.ts'
import { announce } from '../ui/announce.tsx'
import { Button } from '../ui/button.tsx'
import { Confirm, Dialog } from '../ui/dialog.tsx'
import { Facts, Section } from '../ui/page.tsx'
import { ShownOnce } from '../ui/shown-once.tsx'
import { Await, FaultNote } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import { type Endpoint, endpointOptions, refresh } from './queries.ts'
import styles from './settings.module.css'
import { WebhookDeliveries } from './webhook-deliveries.tsx'
import { WebhookDialog } from './webhook-dialog.tsx'
import { EndpointState } from './webhooks.tsx'

type OpenDialog = 'edit' | 'disable' | 'rotate' | 'delete'

const Actions = ({ endpoint }: { endpoint: Endpoint }) => {
  const { id, name, url, status } = endpoint
  const isAdmin = useMay('admin')
  const navigate = useNavigate()
  const [dialog, setDialog] = useState<OpenDialog>()
  const [secret, setSecret] = useState<string>()
  const params = { path: { id } }
  const close = () => setDialog(undefined)
  const act = useMutation({
    mutationFn: async (what: 'approve' | 'test') => {
      // This approves only the displayed URL, in case someone has changed it.
      if (what === 'approve') await answer(api.POST('/v1/webhook-endpoints/{id}/approve', { params, body: { url } }))
      else await answer(api.POST('/v1/webhook-endpoints/{id}/test', { params, body: {} }))
      return what
    },
    onSuccess: async (what) => {
      await refresh('webhook-endpoints')
      if (what === 'approve') announce(`“${name}” approved`)
      else announce('Test event sent', 'See the result under Deliveries.')
    },
  })
  return (
    <div className={styles.stack}>
      <div className={styles.ways}>
        {isAdmin && status !== 'active' && (
          <Button look="primary" busy={act.isPending} onClick={() => act.mutate('approve')}>
            Approve endpoint
          </Button>
        )}
        {status === 'active' && (
          <Button busy={act.isPending} onClick={() => act.mutate('test')}>
            Send test event
          </Button>
        )}
        <Button onClick={() => setDialog('edit')}>Edit</Button>
        {isAdmin && (
          <>
            <Button onClick={() => setDialog('rotate')}>Rotate secret</Button>
            {status !== 'disabled' && (
              <Button look="quiet" onClick={() => setDialog('disable')}>
                {status === 'proposed' ? 'Reject' : 'Disable'}
              </Button>
            )}
            <Button look="quiet" onClick={() => setDialog('delete')}>
              Delete
            </Button>
          </>
        )}
      </div>
      {act.error && <FaultNote error={act.error} />}
      {dialog === 'edit' && <WebhookDialog endpoint={endpoint} onClose={close} />}
      <Confirm
        title={`${status === 'proposed' ? 'Reject' : 'Disable'} “${name}”?`}
        action={status === 'proposed' ? 'Reject endpoint' : 'Disable endpoint'}
        open={dialog === 'disable'}
        onClose={close}
        run={async () => {
          await answer(api.POST('/v1/webhook-endpoints/{id}/disable', { params, body: {} }))
          await refresh('webhook-endpoints')
        }}
      >
        Earshot will stop sending events and cancel pending deliveries. An admin can approve the endpoint again.
      </Confirm>
      <Confirm
        title="Rotate secret?"
        action="Rotate secret"
        open={dialog === 'rotate'}
        onClose={close}
        run={async () => {
          const made = await answer(api.POST('/v1/webhook-endpoints/{id}/rotate-secret', { params, body: {} }))
          setSecret(made.secret)
          await refresh('webhook-endpoints')
        }}
      >
        Earshot will sign with both secrets for 24 hours. If you rotate again within that time, the oldest secret will
        stop working immediately.
      </Confirm>
      <Dialog title="New secret" open={secret !== undefined} onClose={() => setSecret(undefined)} holds>
        <ShownOnce name="secret" value={secret ?? ''}>
          Copy this secret to your server now. You won’t see it again.
        </ShownOnce>
      </Dialog>
      <Confirm
        title={`Delete “${name}”?`}
        action="Delete endpoint"
        open={dialog === 'delete'}
        onClose={close}
        run={async () => {
          await api.DELETE('/v1/webhook-endpoints/{id}', { params })
          announce(`“${name}” deleted`)
          await navigate({ to: '/settings/$part', params: { part: 'webhooks' } })
          await refresh('webhook-endpoints')
        }}
      >
        This deletes its secret and deliveries, including pending ones.
      </Confirm>
    </div>
  )
}

export const Webhook = ({ id }: { id: string }) => {
  const query = useQuery(endpointOptions(id))
  const mayWrite = useMay('member')
  const { nameOf } = useNames('members')
  return (
    <>
      <Link to="/settings/$part" params={{ part: 'webhooks' }}>
        Webhooks
      </Link>
      <Await query={query}>
        {(endpoint) => {
          const { approvedAt, approvedByUserId, failingSince, previousSecretUntil } = endpoint
          const facts: [string, ReactNode][] = [
            ['Status', <EndpointState key="state" {...endpoint} />],
            ['URL', <code key="url">{endpoint.url}</code>],
            ['Events', endpoint.events.join(', ') || 'None. Exports can still use this endpoint.'],
            ['Proposed by', nameOf(endpoint.createdByUserId)],
            [
              'Approved',
              approvedAt && (
                <>
                  <Time at={approvedAt} /> {approvedByUserId && `by ${nameOf(approvedByUserId)}`}
                </>
              ),
            ],
            ...(failingSince
              ? [['Failing since', <Time key="failing" at={failingSince} />] as [string, ReactNode]]
              : []),
            ...(previousSecretUntil
              ? [['Previous secret expires', <Time key="until" at={previousSecretUntil} />] as [string, ReactNode]]
              : []),
          ]
          return (
            <Section title={endpoint.name}>
              <div className={styles.stack}>
                <Facts facts={facts} />
                {mayWrite && <Actions endpoint={endpoint} />}
              </div>
            </Section>
          )
        }}
      </Await>
      {mayWrite && <WebhookDeliveries id={id} />}
    </>
  )
}
