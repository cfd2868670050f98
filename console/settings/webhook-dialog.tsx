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
  { value: 'finding.created', label: 'Finding created' },
  { value: 'finding.updated', label: 'Finding updated' },
  { value: 'alert_incident.opened', label: 'Alert opened' },
  { value: 'alert_incident.acknowledged', label: 'Alert acknowledged' },
  { value: 'alert_incident.resolved', label: 'Alert resolved' },
  { value: 'review.completed', label: 'Review completed' },
  { value: 'monitor_export.completed', label: 'Results export ready' },
  { value: 'monitor_export.failed', label: 'Results export failed' },
  { value: 'monitor_export.expired', label: 'Results export expired' },
  { value: 'conversation_export.completed', label: 'Conversation export ready' },
  { value: 'conversation_export.failed', label: 'Conversation export failed' },
  { value: 'conversation_export.expired', label: 'Conversation export expired' },
  { value: 'export_schedule.paused', label: 'Export schedule paused' },
]

/** Proposes an endpoint, or edits the given one. */
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
    <Dialog title={endpoint ? 'Edit endpoint' : 'Propose endpoint'} open onClose={done} holds>
      {made ? (
        <div className={styles.stack}>
          <ShownOnce name="secret" value={made.secret}>
            Verify Earshot’s requests with this secret. Copy it now. You won’t see it again.
          </ShownOnce>
          <p className={styles.soft}>Earshot sends events once an admin approves the endpoint.</p>
          <div>
            <Button onClick={done}>Done</Button>
          </div>
        </div>
      ) : (
        <Form form={form} send={send} submit={endpoint ? 'Save' : 'Propose endpoint'}>
          <TextField name="name" label="Name" required maxLength={100} />
          <TextField
            name="url"
            label="URL"
            type="url"
            inputMode="url"
            required
            maxLength={2048}
            placeholder="https://"
            hint="A public HTTPS URL without a user name or password."
          />
          {changesUrl && (
            <p className={styles.warning}>
              If you change the URL, an admin has to approve it before Earshot sends events again.
            </p>
          )}
          <fieldset className={styles.checks}>
            <legend>Events</legend>
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
