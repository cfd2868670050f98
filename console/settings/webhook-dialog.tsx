import { useState } from 'react'
import { useForm } from 'react-hook-form'
import { answer, api } from '../api/client.ts'
import { Button } from '../ui/button.tsx'
import { Check } from '../ui/controls.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Form, TextField } from '../ui/form.tsx'
import { ShownOnce } from '../ui/shown-once.tsx'
import { type Endpoint, refresh } from './queries.ts'
import styles from './settings.module.css'

type EventKind = Endpoint['events'][number]

const kinds: { value: EventKind; label: string }[] = [
  { value: 'finding.created', label: 'A finding is filed' },
  { value: 'finding.updated', label: 'A finding changes' },
  { value: 'review.completed', label: 'A review is completed' },
  { value: 'monitor_export.completed', label: 'An export is ready' },
  { value: 'monitor_export.failed', label: 'An export failed' },
  { value: 'monitor_export.expired', label: 'An export expired' },
  { value: 'export_schedule.paused', label: 'An export schedule was paused' },
]

/** Proposes an endpoint, or changes the one that it is given. */
export const WebhookDialog = ({
  endpoint,
  onClose,
  onSaved,
}: {
  endpoint?: Endpoint
  onClose: () => void
  onSaved?: (id: string) => void
}) => {
  const [events, setEvents] = useState<EventKind[]>(endpoint?.events ?? [])
  const [made, setMade] = useState<{ id: string; secret: string }>()
  const form = useForm({ defaultValues: { name: endpoint?.name ?? '', url: endpoint?.url ?? '' } })
  const send = async ({ name, url }: { name: string; url: string }) => {
    const body = { name: name.trim(), url: url.trim(), events }
    if (endpoint) {
      await answer(api.PATCH('/v1/webhook-endpoints/{id}', { params: { path: { id: endpoint.id } }, body }))
      await refresh('webhook-endpoints')
      onClose()
      return
    }
    setMade(await answer(api.POST('/v1/webhook-endpoints', { body })))
    await refresh('webhook-endpoints')
  }
  const done = () => {
    onClose()
    if (made) onSaved?.(made.id)
  }
  const changesUrl = endpoint !== undefined && form.watch('url').trim() !== endpoint.url
  return (
    <Dialog title={endpoint ? 'Edit the endpoint' : 'Propose an endpoint'} open onClose={done} holds>
      {made ? (
        <div className={styles.stack}>
          <ShownOnce name="secret" value={made.secret}>
            What is sent is signed with this secret. Keep it where your server finds it; it is shown here alone.
          </ShownOnce>
          <p className={styles.soft}>Nothing is sent before an admin approves the endpoint.</p>
          <div>
            <Button onClick={done}>Done</Button>
          </div>
        </div>
      ) : (
        <Form form={form} send={send} submit={endpoint ? 'Save' : 'Propose'}>
          <TextField name="name" label="Name" required maxLength={100} />
          <TextField
            name="url"
            label="Address"
            type="url"
            inputMode="url"
            required
            maxLength={2048}
            placeholder="https://"
            hint="Where events are posted to: https, on a public host, without user name and password."
          />
          {changesUrl && (
            <p className={styles.warning}>Another address waits for an admin’s approval; until then nothing is sent.</p>
          )}
          <fieldset className={styles.checks}>
            <legend>It is told when</legend>
            {kinds.map(({ value, label }) => (
              <Check
                key={value}
                label={label}
                checked={events.includes(value)}
                onChange={({ target }) =>
                  setEvents(target.checked ? [...events, value] : events.filter((kind) => kind !== value))
                }
              />
            ))}
          </fieldset>
        </Form>
      )}
    </Dialog>
  )
}
