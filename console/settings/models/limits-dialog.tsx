import { useForm } from 'react-hook-form'
import { Dialog } from '../../ui/dialog.tsx'
import { Form, TextField } from '../../ui/form.tsx'
import { changeProvider, type Provider } from './queries.ts'

type Limit = keyof Provider['limits']

const fields: { name: Limit; label: string; hint: string; max: number }[] = [
  { name: 'concurrency', label: 'Concurrent requests', hint: 'Across all processes.', max: 1_000 },
  { name: 'requestsPerMinute', label: 'Requests per minute (optional)', hint: 'No limit if empty.', max: 1_000_000 },
  {
    name: 'tokensPerMinute',
    label: 'Tokens per minute (optional)',
    hint: 'Input and output. No limit if empty.',
    max: 1_000_000_000,
  },
  {
    name: 'contextTokens',
    label: 'Context (tokens)',
    hint: 'Longer transcripts are read in overlapping windows.',
    max: 10_000_000,
  },
  { name: 'timeoutSeconds', label: 'Timeout (seconds)', hint: 'Per request.', max: 3_600 },
]

export const LimitsDialog = ({ provider: { id, limits }, onClose }: { provider: Provider; onClose: () => void }) => {
  const form = useForm<Record<Limit, string>>({
    defaultValues: {
      concurrency: String(limits.concurrency),
      requestsPerMinute: String(limits.requestsPerMinute ?? ''),
      tokensPerMinute: String(limits.tokensPerMinute ?? ''),
      contextTokens: String(limits.contextTokens),
      timeoutSeconds: String(limits.timeoutSeconds),
    },
  })
  const send = async (values: Record<Limit, string>) => {
    const given = fields.map(({ name }) => [name, values[name] === '' ? null : Number(values[name])])
    await changeProvider(id, { limits: Object.fromEntries(given) })
    onClose()
  }
  return (
    <Dialog title="Edit limits" open onClose={onClose} holds>
      <p>Requests beyond the limits wait. Set limits below those of your provider account.</p>
      <Form form={form} send={send} submit="Save" fieldOf={(path) => path.replace(/^limits\./, '')}>
        {fields.map(({ name, label, hint, max }) => (
          <TextField key={name} name={name} label={label} hint={hint} type="number" min={1} max={max} step={1} />
        ))}
      </Form>
    </Dialog>
  )
}
