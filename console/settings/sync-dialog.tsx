import { useForm } from 'react-hook-form'
import { answer, api } from '../api/client.ts'
import { Dialog } from '../ui/dialog.tsx'
import { CheckField, Form, SelectField, TextField } from '../ui/form.tsx'
import { type IntegrationSync, refresh } from './queries.ts'

const intervals = [
  ...[5, 15, 30].map((minutes) => ({ value: String(minutes), label: `${minutes} minutes` })),
  { value: '60', label: '1 hour' },
  { value: '360', label: '6 hours' },
  { value: '1440', label: '1 day' },
]

const lookbacks = [1, 7, 30, 90].map((days) => ({ value: String(days), label: days === 1 ? '1 day' : `${days} days` }))

/** Adds the current value to the options if it was set through the API. */
const withPresent = (options: { value: string; label: string }[], value: string, unit: string) =>
  options.some((option) => option.value === value) ? options : [...options, { value, label: `${value} ${unit}` }]

type Values = {
  enabled: boolean
  apiKey: string
  intervalMinutes: string
  lookbackDays: string
  apiBaseUrl: string
}

/** Creates a sync, or edits the given one. */
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
    <Dialog title={sync ? 'Edit sync' : 'Set up sync'} open holds onClose={onClose}>
      <Form form={form} send={send} submit={sync ? 'Save' : 'Set up sync'}>
        <TextField
          name="apiKey"
          label="API key"
          type="password"
          autoComplete="off"
          required={!sync}
          maxLength={1000}
          hint={`A key that can read calls. Stored encrypted. You won’t see it again.${sync ? ' Leave empty to keep the current one.' : ''}`}
        />
        <SelectField
          name="intervalMinutes"
          label="Interval"
          options={withPresent(intervals, intervalMinutes, 'minutes')}
        />
        <SelectField
          name="lookbackDays"
          label="Lookback"
          hint={sync && 'Changing this, the key, or the base URL restarts the sync from this point.'}
          options={withPresent(lookbacks, lookbackDays, 'days')}
        />
        <TextField
          name="apiBaseUrl"
          label="API base URL"
          maxLength={500}
          placeholder="https://…"
          hint="Leave empty for the platform’s default. If you change it, enter the API key too."
        />
        <CheckField name="enabled" label="Enable sync" />
      </Form>
    </Dialog>
  )
}
