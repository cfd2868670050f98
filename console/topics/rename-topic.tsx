import { useForm } from 'react-hook-form'
import { answer, api } from '../api/client.ts'
import { announce } from '../ui/announce.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Form, TextField } from '../ui/form.tsx'
import { nameOf, refreshTopics, type TopicDetail } from './topic-queries.ts'

/** Renames a topic. If the name is empty, the topic's terms are shown instead. */
export const RenameTopic = ({ topic, onClose }: { topic: TopicDetail; onClose: () => void }) => {
  const form = useForm<{ label: string }>({ defaultValues: { label: topic.hasOwnLabel ? topic.label : '' } })
  const send = async ({ label }: { label: string }) => {
    const body = { label: label.trim() || null }
    const saved = await answer(api.PATCH('/v1/topics/{id}', { params: { path: { id: topic.id } }, body }))
    await refreshTopics()
    announce(`Renamed to “${nameOf(saved)}”`)
    onClose()
  }
  return (
    <Dialog title="Rename topic" open holds onClose={onClose}>
      <Form form={form} send={send} submit="Save">
        <TextField
          name="label"
          label="Name"
          maxLength={255}
          {...(topic.terms.length > 0 && { hint: `Leave it empty to use the terms: ${topic.terms.join(', ')}.` })}
        />
      </Form>
    </Dialog>
  )
}
