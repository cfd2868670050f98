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

type Asked = 'edit' | 'disable' | 'rotate' | 'delete'

const Ways = ({ endpoint }: { endpoint: Endpoint }) => {
  const { id, name, url, status } = endpoint
  const isAdmin = useMay('admin')
  const navigate = useNavigate()
  const [asked, setAsked] = useState<Asked>()
  const [secret, setSecret] = useState<string>()
  const params = { path: { id } }
  const close = () => setAsked(undefined)
  const act = useMutation({
    mutationFn: async (what: 'approve' | 'test') => {
      // The approval holds for the address that is seen here.
      if (what === 'approve') await answer(api.POST('/v1/webhook-endpoints/{id}/approve', { params, body: { url } }))
      else await answer(api.POST('/v1/webhook-endpoints/{id}/test', { params, body: {} }))
      return what
    },
    onSuccess: async (what) => {
      await refresh('webhook-endpoints')
      if (what === 'approve') announce(`“${name}” is approved`)
      else announce('A test is on its way', 'What came of it stands under Deliveries.')
    },
  })
  return (
    <div className={styles.stack}>
      <div className={styles.ways}>
        {isAdmin && status !== 'active' && (
          <Button look="primary" busy={act.isPending} onClick={() => act.mutate('approve')}>
            Approve this address
          </Button>
        )}
        {status === 'active' && (
          <Button busy={act.isPending} onClick={() => act.mutate('test')}>
            Send a test
          </Button>
        )}
        <Button onClick={() => setAsked('edit')}>Edit</Button>
        {isAdmin && (
          <>
            <Button onClick={() => setAsked('rotate')}>Replace the secret</Button>
            {status !== 'disabled' && (
              <Button look="quiet" onClick={() => setAsked('disable')}>
                {status === 'proposed' ? 'Refuse' : 'Disable'}
              </Button>
            )}
            <Button look="quiet" onClick={() => setAsked('delete')}>
              Delete
            </Button>
          </>
        )}
      </div>
      {act.error && <FaultNote error={act.error} />}
      {asked === 'edit' && <WebhookDialog endpoint={endpoint} onClose={close} />}
      <Confirm
        title={`${status === 'proposed' ? 'Refuse' : 'Disable'} “${name}”?`}
        action={status === 'proposed' ? 'Refuse the endpoint' : 'Disable the endpoint'}
        open={asked === 'disable'}
        onClose={close}
        run={async () => {
          await answer(api.POST('/v1/webhook-endpoints/{id}/disable', { params, body: {} }))
          await refresh('webhook-endpoints')
        }}
      >
        Nothing more is sent to it; what waits is given up. An admin can approve it again.
      </Confirm>
      <Confirm
        title="Replace the secret?"
        action="Make a new secret"
        open={asked === 'rotate'}
        onClose={close}
        run={async () => {
          const made = await answer(api.POST('/v1/webhook-endpoints/{id}/rotate-secret', { params, body: {} }))
          setSecret(made.secret)
          await refresh('webhook-endpoints')
        }}
      >
        For 24 hours both sign, so your server may have either. A second replacement within the day drops the oldest at
        once.
      </Confirm>
      <Dialog title="The new secret" open={secret !== undefined} onClose={() => setSecret(undefined)} holds>
        <ShownOnce name="secret" value={secret ?? ''}>
          Keep it where your server finds it. It is shown here alone.
        </ShownOnce>
      </Dialog>
      <Confirm
        title={`Delete “${name}”?`}
        action="Delete the endpoint"
        open={asked === 'delete'}
        onClose={close}
        run={async () => {
          await api.DELETE('/v1/webhook-endpoints/{id}', { params })
          announce(`“${name}” is deleted`)
          await navigate({ to: '/settings/$part', params: { part: 'webhooks' } })
          await refresh('webhook-endpoints')
        }}
      >
        Its secret and its deliveries go; what was not yet accepted is not sent any more.
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
            ['State', <EndpointState key="state" {...endpoint} />],
            ['Address', <code key="url">{endpoint.url}</code>],
            ['Events', endpoint.events.join(', ') || 'none of its own; exports can name it'],
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
              ? [
                  ['The secret before signs until', <Time key="until" at={previousSecretUntil} />] as [
                    string,
                    ReactNode,
                  ],
                ]
              : []),
          ]
          return (
            <Section title={endpoint.name}>
              <div className={styles.stack}>
                <Facts facts={facts} />
                {mayWrite && <Ways endpoint={endpoint} />}
              </div>
            </Section>
          )
        }}
      </Await>
      {mayWrite && <WebhookDeliveries id={id} />}
    </>
  )
}
