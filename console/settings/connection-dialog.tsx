import { useForm } from 'react-hook-form'
import { answer, api } from '../api/client.ts'
import { useNames } from '../api/names.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Form, SelectField, TextField } from '../ui/form.tsx'
import { type ConnectionValues, settingsOf, textOf } from './connection-settings.ts'
import { type Integration, refresh } from './queries.ts'

type Provider = Integration['provider']

export const providerNames: Record<Provider, string> = {
  vapi: 'Vapi',
  retell: 'Retell',
  elevenlabs: 'ElevenLabs',
  twilio: 'Twilio',
  livekit: 'LiveKit',
}

/** The name that each provider has for its signing secret. */
const secretHints: Record<Provider, string> = {
  vapi: 'The secret, bearer token, or HMAC key of your custom credential in Vapi.',
  retell: 'The API key with the webhook badge in Retell.',
  elevenlabs: 'The signing secret of your post-call webhook.',
  twilio: 'The auth token of your Twilio account.',
  livekit: 'The API secret that your worker signs session reports with.',
}

/** Creates a connection, or edits the given one. */
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
  const form = useForm<ConnectionValues>({
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
  const send = async (values: ConnectionValues) => {
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
    <Dialog title={integration ? 'Edit connection' : 'Create connection'} open onClose={onClose} holds>
      <Form
        form={form}
        send={send}
        submit={integration ? 'Save' : 'Create connection'}
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
            hint={`${secretHints[provider]} Stored encrypted. You won’t see it again.`}
          />
        )}
        {provider === 'vapi' && (
          <SelectField
            name="scheme"
            label="Authentication"
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
          <TextField
            name="apiKey"
            label="API key"
            maxLength={255}
            hint="Earshot accepts only tokens issued by this API key. Leave empty to accept any token."
          />
        )}
        <SelectField
          name="agentId"
          label="Default agent"
          hint="For conversations that don’t name an agent."
          options={[{ value: '', label: 'Create automatically' }, ...agents]}
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
    <Dialog title="Rotate secret" open holds onClose={onClose}>
      <Form form={form} send={send} submit="Rotate secret">
        <TextField
          name="secret"
          label="New secret"
          type="password"
          required
          maxLength={1000}
          hint={`${secretHints[integration.provider]} The previous secret works for another 24 hours.`}
        />
      </Form>
    </Dialog>
  )
}
