import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { answer, api } from '../api/client.ts'
import { queryClient } from '../api/queries.ts'
import { useCount } from '../filters/count.ts'
import type { Filter } from '../filters/filter.ts'
import { FilterWords } from '../filters/filter-bar.tsx'
import { FilterChips } from '../filters/filter-chips.tsx'
import { formatCount, plural } from '../lib/format.ts'
import { announce } from '../ui/announce.tsx'
import { Button } from '../ui/button.tsx'
import { Field, Input } from '../ui/controls.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { FaultNote } from '../ui/states.tsx'
import styles from './add-conversations.module.css'
import type { Bucket } from './queries.ts'

const maxAdded = 1_000

const newestIds = async (filter: Filter, wanted: number): Promise<string[]> => {
  const ids: string[] = []
  let cursor: string | undefined
  do {
    const limit = Math.min(200, wanted - ids.length)
    const page = await answer(
      api.POST('/v1/conversations/search', { body: { filter, limit, ...(cursor !== undefined && { cursor }) } }),
    )
    ids.push(...page.data.map(({ id }) => id))
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined && ids.length < wanted)
  return ids
}

/** Adds the latest conversations that match a filter to a bucket, once. */
export const AddConversations = ({ bucket, onClose }: { bucket: Bucket; onClose: () => void }) => {
  const [filter, setFilter] = useState<Filter>({})
  const [wanted, setWanted] = useState('50')
  const { data } = useCount(filter)
  const number = /^\d+$/.test(wanted) ? Math.min(maxAdded, Number(wanted)) : 0
  const put = useMutation({
    mutationFn: async () => {
      const conversationIds = await newestIds(filter, number)
      if (conversationIds.length === 0) return { added: 0, known: 0 }
      const { data: outcomes } = await answer(
        api.POST('/v1/buckets/{id}/conversations', { params: { path: { id: bucket.id } }, body: { conversationIds } }),
      )
      const of = (status: string) => outcomes.filter((outcome) => outcome.status === status).length
      return { added: of('created'), known: of('unchanged') }
    },
    onSuccess: async ({ added, known }) => {
      await queryClient.invalidateQueries({ queryKey: ['buckets', bucket.id] })
      announce(
        `${plural(added, 'conversation')} added`,
        known > 0 ? `${formatCount(known)} already in the bucket` : undefined,
      )
      onClose()
    },
  })
  const count = Math.min(number, data?.count ?? number)
  return (
    <Dialog title={`Add conversations to “${bucket.name}”`} open wide holds onClose={onClose}>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault()
          put.mutate()
        }}
      >
        <FilterChips filter={filter} onChange={setFilter} without={['bucketId']} />
        <FilterWords filter={filter} />
        <div className={styles.amount}>
          <Field label="Number of conversations" hint="Adds the latest ones first, up to 1,000 at a time.">
            {(ids) => (
              <Input {...ids} inputMode="numeric" value={wanted} onChange={({ target }) => setWanted(target.value)} />
            )}
          </Field>
        </div>
        {put.error && <FaultNote error={put.error} />}
        <div className={styles.ways}>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" busy={put.isPending} disabled={count === 0}>
            Add {plural(count, 'conversation')}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
