import { useState } from 'react'
import { useForm } from 'react-hook-form'
import { answer, api } from '../api/client.ts'
import { useNames } from '../api/names.ts'
import { useList } from '../api/queries.ts'
import { type Role, useMe } from '../api/session.ts'
import { sentenceCase } from '../lib/format.ts'
import { announce } from '../ui/announce.tsx'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { Code } from '../ui/copy.tsx'
import { Confirm, Dialog } from '../ui/dialog.tsx'
import { Form, SelectField, TextField } from '../ui/form.tsx'
import { ListTable } from '../ui/list-table.tsx'
import { Section } from '../ui/page.tsx'
import { ShownOnce } from '../ui/shown-once.tsx'
import { Empty } from '../ui/states.tsx'
import type { Column } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { type ApiKey, keysOptions, refresh } from './queries.ts'
import { rolesInWords, rolesUpTo } from './roles.ts'
import styles from './settings.module.css'

const dayMs = 86_400_000

const lives = [
  { value: '', label: 'No expiration' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: '1 year' },
]

type Values = { name: string; role: Role; days: string }

const sampleRequest = () => `curl ${location.origin}/v1/me -H "Authorization: Bearer $EARSHOT_KEY"`

const NewKey = ({ onClose }: { onClose: () => void }) => {
  const { role: own } = useMe()
  const [key, setKey] = useState<string>()
  const form = useForm<Values>({ defaultValues: { name: '', role: 'member', days: '' } })
  const send = async ({ name, role, days }: Values) => {
    const expiresAt = days === '' ? null : new Date(Date.now() + Number(days) * dayMs).toISOString()
    const made = await answer(api.POST('/v1/api-keys', { body: { name: name.trim(), role, expiresAt } }))
    // The key is shown first, because it can't be requested again.
    setKey(made.key)
    await refresh('api-keys')
  }
  return (
    <Dialog title="Create API key" open onClose={onClose} holds>
      {key ? (
        <div className={styles.stack}>
          <ShownOnce name="key" value={key}>
            Copy this key now. You won’t see it again.
          </ShownOnce>
          <Code>{sampleRequest()}</Code>
          <div>
            <Button onClick={onClose}>Done</Button>
          </div>
        </div>
      ) : (
        <Form form={form} send={send} submit="Create API key">
          <TextField name="name" label="Name" required maxLength={255} hint="What you use this key for." />
          <SelectField name="role" label="Role" options={rolesUpTo(own)} hint={rolesInWords} />
          <SelectField name="days" label="Expires" options={lives} />
        </Form>
      )}
    </Dialog>
  )
}

const State = ({ revokedAt, expiresAt }: ApiKey) => {
  if (revokedAt !== null) return <Badge tone="failed">Revoked</Badge>
  if (expiresAt !== null && new Date(expiresAt).getTime() < Date.now()) return <Badge tone="unscored">Expired</Badge>
  return <Badge tone="accent">Active</Badge>
}

export const ApiKeys = () => {
  const [making, setMaking] = useState(false)
  const [revoking, setRevoking] = useState<ApiKey>()
  const { nameOf } = useNames('members')
  const list = useList(keysOptions)
  const make = (
    <Button look="primary" onClick={() => setMaking(true)}>
      Create API key
    </Button>
  )
  const columns: Column<ApiKey>[] = [
    { key: 'name', label: 'Name', cell: ({ name }) => name },
    { key: 'prefix', label: 'Prefix', from: 720, cell: ({ prefix }) => <code>{prefix}…</code> },
    { key: 'role', label: 'Role', from: 480, cell: ({ role }) => sentenceCase(role) },
    { key: 'by', label: 'Created by', from: 960, cell: ({ createdByUserId }) => nameOf(createdByUserId) },
    {
      key: 'used',
      label: 'Last used',
      from: 720 as const,
      cell: ({ lastUsedAt }) =>
        lastUsedAt ? <Time at={lastUsedAt} ago /> : <span className={styles.soft}>Never</span>,
    },
    {
      key: 'expires',
      label: 'Expires',
      from: 960 as const,
      cell: ({ expiresAt }) => (expiresAt ? <Time at={expiresAt} /> : <span className={styles.soft}>Never</span>),
    },
    { key: 'state', label: 'Status', cell: (key) => <State {...key} /> },
    {
      key: 'ways',
      label: '',
      cell: (key) =>
        key.revokedAt === null && (
          <div className={styles.cellWays}>
            <Button small look="quiet" aria-label={`Revoke ${key.name}`} onClick={() => setRevoking(key)}>
              Revoke
            </Button>
          </div>
        ),
    },
  ]
  return (
    <Section title="API keys" context="Let your code use the Earshot API" actions={list.rows?.length !== 0 && make}>
      <ListTable
        list={list}
        label="API keys"
        columns={columns}
        empty={
          <Empty title="No API keys yet" action={make}>
            <p>With an API key, your code can send conversations and read everything that the key’s role can see.</p>
            <Code>{sampleRequest()}</Code>
          </Empty>
        }
      />
      {making && <NewKey onClose={() => setMaking(false)} />}
      {revoking && (
        <Confirm
          title={`Revoke “${revoking.name}”?`}
          action="Revoke key"
          open
          onClose={() => setRevoking(undefined)}
          run={async () => {
            await api.DELETE('/v1/api-keys/{id}', { params: { path: { id: revoking.id } } })
            await refresh('api-keys')
            announce(`“${revoking.name}” revoked`)
          }}
        >
          Requests that use <code>{revoking.prefix}…</code> will be rejected. You can’t restore a revoked key.
        </Confirm>
      )}
    </Section>
  )
}
