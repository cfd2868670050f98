import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useForm } from 'react-hook-form'
import { answer, api } from '../api/client.ts'
import { useNames } from '../api/names.ts'
import { splitList } from '../lib/split-list.ts'
import { Field, Row } from '../ui/controls.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Form, SelectField, TextField } from '../ui/form.tsx'
import { type Priority, refreshFindings } from './queries.ts'
import { type Document, RichTextField } from './rich-text.tsx'
import { SimilarFindings } from './similar-findings.tsx'
import { priorities, priorityWords } from './words.tsx'

type Values = { title: string; priority: Priority; assigneeUserId: string; tags: string }

export const NewFinding = ({ onClose }: { onClose: () => void }) => {
  const navigate = useNavigate()
  const members = useNames('members')
  const [description, setDescription] = useState<Document | null>(null)
  const form = useForm<Values>({ defaultValues: { title: '', priority: 'none', assigneeUserId: '', tags: '' } })
  const send = async ({ title, priority, assigneeUserId, tags }: Values) => {
    const { id } = await answer(
      api.POST('/v1/findings', {
        body: {
          title: title.trim(),
          priority,
          tags: splitList(tags),
          ...(description && { description }),
          ...(assigneeUserId && { assigneeUserId }),
        },
      }),
    )
    await refreshFindings()
    await navigate({ to: '/findings/$id', params: { id } })
  }
  return (
    <Dialog title="Create finding" open onClose={onClose} wide holds>
      <Form
        form={form}
        send={send}
        submit="Create finding"
        // The path can also contain a list index.
        fieldOf={(path) => path.replace(/[[.].*$/, '')}
      >
        <TextField name="title" label="Title" required maxLength={500} />
        <Field label="Description">
          {({ id }) => <RichTextField id={id} label="Description" value={description} onChange={setDescription} />}
        </Field>
        <SimilarFindings title={form.watch('title')} description={description} />
        <Row>
          <SelectField
            name="priority"
            label="Priority"
            options={priorities.map((value) => ({ value, label: priorityWords[value] }))}
          />
          <SelectField
            name="assigneeUserId"
            label="Assignee"
            options={[{ value: '', label: 'Unassigned' }, ...members.options]}
          />
        </Row>
        <TextField name="tags" label="Tags" hint="Separate tags with commas." />
      </Form>
    </Dialog>
  )
}
