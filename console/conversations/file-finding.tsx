import { useRef } from 'react'
import { useForm } from 'react-hook-form'
import { answer, api } from '../api/client.ts'
import { useNames } from '../api/names.ts'
import { queryClient } from '../api/queries.ts'
import type { Schemas } from '../api/schema.d.ts'
import { SimilarFindings } from '../findings/similar-findings.tsx'
import { formatClock } from '../lib/format.ts'
import { announce } from '../ui/announce.tsx'
import { Button } from '../ui/button.tsx'
import { Row } from '../ui/controls.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Form, SelectField, TextArea, TextField } from '../ui/form.tsx'
import styles from './file-finding.module.css'
import { speakerOf, type Turn } from './timeline.ts'

export type Quote = { text: string; turn: Turn }

type Conversation = Schemas['Conversation']
type Priority = Schemas['Finding']['priority']

const paragraph = (text: string) => ({ type: 'paragraph', ...(text !== '' && { content: [{ type: 'text', text }] }) })

/** Returns the path of the selected turn. */
const addressOf = (id: string, { turn }: Quote) => {
  const at = turn.startMs === null ? '' : `&at=${Math.round(turn.startMs / 100) / 10}`
  return `${location.origin}/conversations/${id}?turn=${turn.index}${at}`
}

const sourceOf = ({ turn }: Quote) =>
  `${speakerOf(turn)}${turn.startMs === null ? `, turn ${turn.index + 1}` : ` at ${formatClock(turn.startMs / 1_000)}`}`

/** Builds rich text with the quoted words, a link to their turn, and the person's notes. */
const documentOf = (id: string, notes: string, quote: Quote | undefined) => ({
  type: 'doc',
  content: [
    ...(quote
      ? [
          { type: 'blockquote', content: quote.text.split('\n').map(paragraph) },
          {
            type: 'paragraph',
            content: [
              {
                type: 'text',
                text: sourceOf(quote),
                marks: [{ type: 'link', attrs: { href: addressOf(id, quote) } }],
              },
            ],
          },
        ]
      : []),
    ...notes.split('\n').map(paragraph),
  ],
})

const priorities = ['none', 'low', 'medium', 'high', 'urgent'].map((value) => ({
  value,
  label: value === 'none' ? 'No priority' : `${value.charAt(0).toUpperCase()}${value.slice(1)}`,
}))

type Values = { title: string; notes: string; priority: Priority; assigneeUserId: string }

type FileFindingProps = { conversation: Conversation; quote?: Quote; onClose: () => void }

/** Creates a finding about this conversation, with the selected words. */
export const FileFinding = ({ conversation: { id }, quote, onClose }: FileFindingProps) => {
  const form = useForm<Values>({ defaultValues: { title: '', notes: '', priority: 'none', assigneeUserId: '' } })
  const { options } = useNames('members')
  const filed = useRef<Schemas['Finding']>(undefined)
  const send = async ({ title, notes, priority, assigneeUserId }: Values) => {
    // If only attaching failed, a retry must not create the finding again.
    filed.current ??= await answer(
      api.POST('/v1/findings', {
        body: {
          title,
          priority,
          ...((quote || notes.trim() !== '') && { description: documentOf(id, notes.trim(), quote) }),
          ...(assigneeUserId !== '' && { assigneeUserId }),
        },
      }),
    )
    const finding = filed.current
    await answer(
      api.POST('/v1/findings/{id}/conversations', {
        params: { path: { id: finding.id } },
        body: { conversationId: id },
      }),
    )
    await Promise.all([
      queryClient.invalidateQueries({ queryKey: ['findings'] }),
      queryClient.invalidateQueries({ queryKey: ['conversations', id, 'findings'] }),
    ])
    announce('Finding created', finding.title)
    onClose()
  }
  return (
    <Dialog title="Create finding" open holds onClose={onClose}>
      <Form form={form} send={send} submit="Create finding" beside={<Button onClick={onClose}>Cancel</Button>}>
        <TextField
          name="title"
          label="Title"
          required
          maxLength={500}
          placeholder="What’s going wrong, in a few words"
        />
        {quote && (
          <figure className={styles.quote}>
            <blockquote>{quote.text}</blockquote>
            <figcaption>{sourceOf(quote)}</figcaption>
          </figure>
        )}
        <TextArea name="notes" label="Notes" rows={3} />
        <SimilarFindings title={form.watch('title')} />
        <Row>
          <SelectField name="priority" label="Priority" options={priorities} />
          <SelectField
            name="assigneeUserId"
            label="Assignee"
            options={[{ value: '', label: 'Unassigned' }, ...options]}
          />
        </Row>
      </Form>
    </Dialog>
  )
}
