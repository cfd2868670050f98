import { useForm } from 'react-hook-form'
import { answer, api } from '../api/client.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Form, TextArea, TextField } from '../ui/form.tsx'
import { updateBoard } from './changes.ts'
import { type Board, refreshBoards } from './queries.ts'

type Values = { name: string; description: string }

/** Creates a board, or edits the name and description of the given one. */
export const BoardDialog = ({
  board,
  onClose,
  onSaved,
}: {
  board?: Board
  onClose: () => void
  onSaved?: (board: Board) => void
}) => {
  const form = useForm<Values>({
    defaultValues: { name: board?.name ?? '', description: board?.description ?? '' },
  })
  const send = async ({ name, description }: Values) => {
    const body = { name: name.trim(), description: description.trim() || null }
    const saved = board
      ? await updateBoard(board.id, body)
      : await answer(api.POST('/v1/boards', { body: { ...body, compareTo: 'previous_period' } }))
    await refreshBoards()
    onClose()
    onSaved?.(saved)
  }
  return (
    <Dialog title={board ? 'Rename board' : 'Create board'} open holds onClose={onClose}>
      <Form form={form} send={send} submit={board ? 'Save' : 'Create board'}>
        <TextField name="name" label="Name" required maxLength={255} />
        <TextArea name="description" label="Description" maxLength={2000} rows={2} />
      </Form>
    </Dialog>
  )
}
