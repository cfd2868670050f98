import { useState } from 'react'
import { useForm } from 'react-hook-form'
import { answer, api } from '../api/client.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Form, TextArea } from '../ui/form.tsx'

type Values = { reason: string }

/** Asks an admin for a reason, and then links to the sealed original of a redacted recording. */
export const OpenOriginal = ({ id, onClose }: { id: string; onClose: () => void }) => {
  const [url, setUrl] = useState<string>()
  const form = useForm<Values>({ defaultValues: { reason: '' } })
  const send = async ({ reason }: Values) => {
    const params = { path: { id } }
    setUrl((await answer(api.POST('/v1/conversations/{id}/recording/original', { params, body: { reason } }))).url)
  }
  return (
    <Dialog title="Open original recording" open onClose={onClose}>
      {url === undefined ? (
        <Form form={form} send={send} submit="Open original">
          <p>The original contains the redacted words. The audit log records that you opened it, and why.</p>
          <TextArea name="reason" label="Reason" hint="At least 10 characters." required maxLength={500} />
        </Form>
      ) : (
        <p>
          <a href={url} target="_blank" rel="noreferrer">
            Play the original
          </a>{' '}
          The link works for five minutes.
        </p>
      )}
    </Dialog>
  )
}
