import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { answer, api } from '../api/client.ts'
import { queryClient } from '../api/queries.ts'
import { announce } from '../ui/announce.tsx'
import { lazy } from '../ui/lazy.tsx'
import { openFindingsOptions } from './queries.ts'

const PickOne = lazy(async () => (await import('./pick-one.tsx')).PickOne)

/** Attaches a conversation to an existing finding, or starts to attach the selected ones. */
export const AttachFinding = ({
  conversationId,
  attached = [],
  start,
  onClose,
}: {
  /** The findings to omit from the options. */
  attached?: string[]
  onClose: () => void
} & (
  | { conversationId: string; start?: never }
  | { conversationId?: never; start: (findingId: string) => Promise<void> }
)) => {
  const { data, error } = useQuery(openFindingsOptions)
  const [finding, setFinding] = useState<string | null>(null)
  const options = (data?.data ?? [])
    .filter(({ id }) => !attached.includes(id))
    .map(({ id, title }) => ({ value: id, label: title }))
  const send = async (id: string) => {
    if (start) return start(id)
    const { alreadyExisted } = await answer(
      api.POST('/v1/findings/{id}/conversations', { params: { path: { id } }, body: { conversationId } }),
    )
    await Promise.all([
      queryClient.invalidateQueries({ queryKey: ['findings'] }),
      queryClient.invalidateQueries({ queryKey: ['conversations', 'search'] }),
      queryClient.invalidateQueries({ queryKey: ['conversations', conversationId, 'findings'] }),
    ])
    announce(alreadyExisted ? 'Already attached' : 'Conversation attached')
  }
  return (
    <PickOne
      title="Attach to finding"
      label="Finding"
      hint="Open and acknowledged findings, newest first."
      action="Attach"
      none="No open findings. Create one instead."
      options={options}
      value={finding}
      onChange={setFinding}
      error={error}
      send={send}
      onClose={onClose}
      isLoaded={data !== undefined}
    />
  )
}
