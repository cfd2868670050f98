import { useQuery } from '@tanstack/react-query'
import { answer, api } from '../api/client.ts'
import { formatCount } from '../lib/format.ts'
import { Empty } from '../ui/states.tsx'

/** Explains why no conversation has the meaning of the filter. Some may not be embedded yet. */
export const NothingSimilar = () => {
  const { data } = useQuery({
    queryKey: ['embeddings'],
    queryFn: ({ signal }) => answer(api.GET('/v1/embeddings', { signal })),
  })
  const { embedded = 0, waiting = 0 } = data ?? {}
  return (
    <Empty title="No conversations with this meaning">
      {waiting > 0 && (
        <p>
          Earshot is still reading older conversations. It has read {formatCount(embedded)} so far, newest first. Try
          again later.
        </p>
      )}
      <p>
        Use other words, or edit the filter to accept less similar conversations, such as “meaning: refund not received,
        at least 0.5”.
      </p>
    </Empty>
  )
}
