import { useState } from 'react'
import { useForm } from 'react-hook-form'
import { answer, api } from '../api/client.ts'
import { useList } from '../api/queries.ts'
import { Chooser, ChooserOfOne } from '../ui/chooser.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Form, SelectField, TextArea, TextField } from '../ui/form.tsx'
import { type Destination, endpointsOptions, membersOptions, refresh } from './queries.ts'

type Kind = Destination['kind']

export const kindNames: Record<Kind, string> = {
  slack: 'Slack',
  teams: 'Microsoft Teams',
  email: 'Email',
  pagerduty: 'PagerDuty',
  opsgenie: 'Opsgenie',
  webhook: 'Webhook endpoint',
}

const kindOptions = Object.entries(kindNames).map(([value, label]) => ({ value, label }))

/** The field that contains the secret for each kind. */
const secretFields: Partial<Record<Kind, { name: string; label: string; hint: string }>> = {
  slack: {
    name: 'url',
    label: 'Webhook URL',
    hint: 'In Slack, create an app with an incoming webhook for the channel.',
  },
  teams: {
    name: 'url',
    label: 'Workflow URL',
    hint: 'In Teams, add the workflow “Post to a channel when a webhook request is received”.',
  },
  pagerduty: {
    name: 'routingKey',
    label: 'Integration key',
    hint: 'In PagerDuty, add an Events API v2 integration to the service.',
  },
  opsgenie: { name: 'apiKey', label: 'API key', hint: 'In Opsgenie, add an API integration to the team.' },
}

type Values = { name: string; kind: Kind; secret: string; region: string; addresses: string }

const listOf = (text: string): string[] => text.split(/[\s,;]+/).filter((address) => address !== '')

const settingsOf = (
  { kind, secret, region, addresses }: Values,
  { memberIds, endpointId }: { memberIds: string[]; endpointId: string | null },
): Record<string, unknown> => {
  if (kind === 'email') return { addresses: listOf(addresses), memberIds }
  if (kind === 'webhook') return { endpointId: endpointId ?? '' }
  const field = secretFields[kind]
  const value = secret.trim()
  return {
    ...(field && value !== '' && { [field.name]: value }),
    ...(kind === 'opsgenie' && { region }),
  }
}

const startOf = (destination: Destination | undefined): Values => {
  const { name = '', kind = 'slack', settings = {} } = destination ?? {}
  const { addresses = [], region = 'us' } = settings as { addresses?: string[]; region?: string }
  return { name, kind, secret: '', region, addresses: addresses.join('\n') }
}

/** Creates a destination, or edits the given one. */
export const DestinationDialog = ({
  destination,
  onClose,
  onSaved,
}: {
  destination?: Destination
  onClose: () => void
  onSaved?: (id: string) => void
}) => {
  const stored = (destination?.settings ?? {}) as { memberIds?: string[]; endpointId?: string }
  const [memberIds, setMemberIds] = useState(stored.memberIds ?? [])
  const [endpointId, setEndpointId] = useState(stored.endpointId ?? null)
  const members = useList(membersOptions)
  const endpoints = useList(endpointsOptions)
  const form = useForm({ defaultValues: startOf(destination) })
  const kind = form.watch('kind')
  const field = secretFields[kind]
  const send = async (values: Values) => {
    const settings = settingsOf(values, { memberIds, endpointId })
    const name = values.name.trim()
    const { id } = destination
      ? await answer(
          api.PATCH('/v1/destinations/{id}', { params: { path: { id: destination.id } }, body: { name, settings } }),
        )
      : await answer(api.POST('/v1/destinations', { body: { name, kind: values.kind, settings } }))
    await refresh('destinations')
    onClose()
    onSaved?.(id)
  }
  return (
    <Dialog title={destination ? 'Edit destination' : 'Create destination'} open onClose={onClose} holds>
      <Form
        form={form}
        send={send}
        submit={destination ? 'Save' : 'Create destination'}
        fieldOf={(path) => (path === `settings.${field?.name}` ? 'secret' : path.replace(/^settings\.(\w+).*/, '$1'))}
      >
        <TextField name="name" label="Name" required maxLength={100} />
        {!destination && <SelectField name="kind" label="Type" options={kindOptions} />}
        {field && (
          <TextField
            name="secret"
            label={field.label}
            required={!destination}
            maxLength={2048}
            hint={destination ? 'Leave empty to keep the current one.' : field.hint}
          />
        )}
        {kind === 'opsgenie' && (
          <SelectField
            name="region"
            label="Region"
            options={[
              { value: 'us', label: 'US' },
              { value: 'eu', label: 'EU' },
            ]}
          />
        )}
        {kind === 'email' && (
          <>
            <TextArea
              name="addresses"
              label="Email addresses"
              rows={3}
              hint="Separate addresses with commas or line breaks."
            />
            <Chooser
              label="Members"
              options={(members.rows ?? []).map(({ id, name, email }) => ({ value: id, label: name || email }))}
              value={memberIds}
              onChange={setMemberIds}
            />
          </>
        )}
        {kind === 'webhook' && (
          <ChooserOfOne
            label="Endpoint"
            options={(endpoints.rows ?? []).map(({ id, name }) => ({ value: id, label: name }))}
            value={endpointId}
            onChange={setEndpointId}
          />
        )}
      </Form>
    </Dialog>
  )
}
