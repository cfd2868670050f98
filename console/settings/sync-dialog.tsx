import { useForm } from 'react-hook-form'
import { answer, api } from '../api/client.ts'
import { Dialog } from '../ui/dialog.tsx'
import { CheckField, Form, SelectField, TextField } from '../ui/form.tsx'
import { type IntegrationSync, refresh } from './queries.ts'

const intervals = [
  ...[5, 15, 30].map((minutes) => ({ value: String(minutes), label: `${minutes} minutes` })),
  { value: '60', label: 'hour' },
  { value: '360', label: '6 hours' },
  { value: '1440', label: 'day' },
]

const lookbacks = [1, 7, 30, 90].map((days) => ({ value: String(days), label: days === 1 ? 'a day' : `${days} days` }))

/** The choices, with what somebody chose elsewhere. */
const withPresent = (options: { value: string; label: string }[], value: string, unit: string) =>
  options.some((option) => option.value === value) ? options : [...options, { value, label: `${value} ${unit}` }]

type Values = {
  enabled: boolean
  apiKey: string
  intervalMinutes: string
  lookbackDays: string
  apiBaseUrl: string
}

/** Sets a sync up, or changes the one that it is given. */
export const SyncDialog = ({ id, sync, onClose }: { id: string; sync?: IntegrationSync; onClose: () => void }) => {
  const form = useForm<Values>({
    defaultValues: {
      enabled: sync?.enabled ?? true,
      apiKey: '',
      intervalMinutes: String(sync?.intervalMinutes ?? 15),
      lookbackDays: String(sync?.lookbackDays ?? 7),
      apiBaseUrl: sync?.apiBaseUrl ?? '',
    },
  })
  const send = async ({ enabled, apiKey, intervalMinutes, lookbackDays, apiBaseUrl }: Values) => {
    await answer(
      api.PUT('/v1/integrations/{id}/sync', {
        params: { path: { id } },
        body: {
          enabled,
          intervalMinutes: Number(intervalMinutes),
          lookbackDays: Number(lookbackDays),
          ...(apiKey.trim() && { apiKey: apiKey.trim() }),
          ...(apiBaseUrl.trim() && { apiBaseUrl: apiBaseUrl.trim() }),
        },
      }),
    )
    await refresh('integrations')
    onClose()
  }
  const { intervalMinutes, lookbackDays } = form.getValues()
  return (
    <Dialog title={sync ? 'Edit the sync' : 'Fetch what the webhooks missed'} open holds onClose={onClose}>
      <Form form={form} send={send} submit={sync ? 'Save' : 'Set it up'}>
        <TextField
          name="apiKey"
          label="API key"
          type="password"
          autoComplete="off"
          required={!sync}
          maxLength={1000}
          hint={`A key that may read calls. It is sealed, and never shown again.${sync ? ' Empty keeps the present one.' : ''}`}
        />
        <SelectField
          name="intervalMinutes"
          label="Ask every"
          options={withPresent(intervals, intervalMinutes, 'minutes')}
        />
        <SelectField
          name="lookbackDays"
          label="Go back by"
          hint={sync && 'Another value, key or address begins anew from there.'}
          options={withPresent(lookbacks, lookbackDays, 'days')}
        />
        <TextField
          name="apiBaseUrl"
          label="Address of the API"
          maxLength={500}
          placeholder="https://…"
          hint="Empty is the platform’s own. Another one needs the key beside it."
        />
        <CheckField name="enabled" label="The sync is on" />
      </Form>
    </Dialog>
  )
}
