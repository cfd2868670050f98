import { useForm } from 'react-hook-form'
import { answer, api } from '../api/client.ts'
import { useNames } from '../api/names.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Form, SelectField, TextField } from '../ui/form.tsx'
import { type Integration, refresh } from './queries.ts'

type Provider = Integration['provider']

export const providerNames: Record<Provider, string> = {
  vapi: 'Vapi',
  retell: 'Retell',
  elevenlabs: 'ElevenLabs',
  twilio: 'Twilio',
  livekit: 'LiveKit',
}

/** What each provider calls what it signs with. */
const secretHints: Record<Provider, string> = {
  vapi: 'The secret, bearer token or HMAC key of the custom credential in Vapi.',
  retell: 'The API key with the webhook badge.',
  elevenlabs: 'The signing secret of the post-call webhook.',
  twilio: 'The auth token of the account.',
  livekit: 'The API secret by which your worker signs its session report.',
}

type Values = {
  provider: Provider
  name: string
  secret: string
  agentId: string
  scheme: string
  accountSid: string
  apiKey: string
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : '')

/** What the form does not show of the settings stays as it is. */
const settingsOf = (
  { provider, agentId, scheme, accountSid, apiKey }: Values,
  before: Record<string, unknown>,
): Record<string, unknown> => {
  const shown = {
    agentId,
    ...(provider === 'vapi' && { scheme }),
    ...(provider === 'twilio' && { accountSid: accountSid.trim() }),
    ...(provider === 'livekit' && { apiKey: apiKey.trim() }),
  }
  // The knobs of one scheme are not those of another.
  const kept = provider === 'vapi' && textOf(before.scheme || 'secret') !== scheme ? {} : before
  return Object.fromEntries(Object.entries({ ...kept, ...shown }).filter(([, value]) => value !== ''))
}

/** Makes a connection, or changes the one that it is given. */
export const ConnectionDialog = ({
  integration,
  onClose,
  onSaved,
}: {
  integration?: Integration
  onClose: () => void
  onSaved?: (integration: Integration) => void
}) => {
  const { options: agents } = useNames('agents')
  const { settings: before = {} } = integration ?? {}
  const form = useForm<Values>({
    defaultValues: {
      provider: integration?.provider ?? 'vapi',
      name: integration?.name ?? '',
      secret: '',
      agentId: textOf(before.agentId),
      scheme: textOf(before.scheme) || 'secret',
      accountSid: textOf(before.accountSid),
      apiKey: textOf(before.apiKey),
    },
  })
  const provider = form.watch('provider')
  const send = async (values: Values) => {
    const common = { name: values.name.trim(), settings: settingsOf(values, before) }
    const saved = await answer(
      integration
        ? api.PATCH('/v1/integrations/{id}', { params: { path: { id: integration.id } }, body: common })
        : api.POST('/v1/integrations', { body: { ...common, provider: values.provider, secret: values.secret } }),
    )
    await refresh('integrations')
    onClose()
    onSaved?.(saved)
  }
  return (
    <Dialog title={integration ? 'Edit the connection' : 'Connect a platform'} open onClose={onClose} holds>
      <Form
        form={form}
        send={send}
        submit={integration ? 'Save' : 'Connect'}
        fieldOf={(path) => path.replace(/^settings\./, '')}
      >
        {!integration && (
          <SelectField
            name="provider"
            label="Provider"
            options={Object.entries(providerNames).map(([value, label]) => ({ value, label }))}
          />
        )}
        <TextField name="name" label="Name" required maxLength={255} />
        {!integration && (
          <TextField
            name="secret"
            label="Secret"
            type="password"
            autoComplete="off"
            required
            maxLength={1000}
            hint={`${secretHints[provider]} It is sealed, and never shown again.`}
          />
        )}
        {provider === 'vapi' && (
          <SelectField
            name="scheme"
            label="How Vapi signs"
            options={[
              { value: 'secret', label: 'Secret in a header' },
              { value: 'bearer', label: 'Bearer token' },
              { value: 'hmac', label: 'HMAC' },
            ]}
          />
        )}
        {provider === 'twilio' && (
          <TextField name="accountSid" label="Account SID" required placeholder="AC…" maxLength={34} />
        )}
        {provider === 'livekit' && (
          <TextField name="apiKey" label="API key" maxLength={255} hint="Whose token it must be. Empty takes any." />
        )}
        <SelectField
          name="agentId"
          label="Agent of calls that name none"
          options={[{ value: '', label: 'Make one for them' }, ...agents]}
        />
      </Form>
    </Dialog>
  )
}

export const SecretDialog = ({ integration, onClose }: { integration: Integration; onClose: () => void }) => {
  const form = useForm({ defaultValues: { secret: '' } })
  const send = async ({ secret }: { secret: string }) => {
    await answer(api.PATCH('/v1/integrations/{id}', { params: { path: { id: integration.id } }, body: { secret } }))
    await refresh('integrations')
    onClose()
  }
  return (
    <Dialog title="Replace the secret" open holds onClose={onClose}>
      <Form form={form} send={send} submit="Replace the secret">
        <TextField
          name="secret"
          label="New secret"
          type="password"
          required
          maxLength={1000}
          hint={`${secretHints[integration.provider]} The one before counts for another day.`}
        />
      </Form>
    </Dialog>
  )
}
