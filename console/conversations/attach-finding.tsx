import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { answer, api } from '../api/client.ts'
import { queryClient } from '../api/queries.ts'
import { plural } from '../lib/format.ts'
import { announce } from '../ui/announce.tsx'
import { lazy } from '../ui/lazy.tsx'
import { openFindingsOptions } from './queries.ts'

const PickOne = lazy(async () => (await import('./pick-one.tsx')).PickOne)

/** Attaches conversations to an existing finding. */
export const AttachFinding = ({
  conversationIds,
  attached,
  onClose,
}: {
  conversationIds: string[]
  /** Findings that are not offered. */
  attached: string[]
  onClose: () => void
}) => {
  const { data, error } = useQuery(openFindingsOptions)
  const [finding, setFinding] = useState<string | null>(null)
  const options = (data?.data ?? [])
    .filter(({ id }) => !attached.includes(id))
    .map(({ id, title }) => ({ value: id, label: title }))
  const send = async (id: string) => {
    let added = 0
    for (const conversationId of conversationIds) {
      const { alreadyExisted } = await answer(
        api.POST('/v1/findings/{id}/conversations', { params: { path: { id } }, body: { conversationId } }),
      )
      if (!alreadyExisted) added++
    }
    await Promise.all([
      queryClient.invalidateQueries({ queryKey: ['findings'] }),
      queryClient.invalidateQueries({ queryKey: ['conversations', 'search'] }),
      ...conversationIds.map((each) =>
        queryClient.invalidateQueries({ queryKey: ['conversations', each, 'findings'] }),
      ),
    ])
    announce(added === 0 ? 'Already attached' : `${plural(added, 'conversation')} attached`)
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
