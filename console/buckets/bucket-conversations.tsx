import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { X } from 'lucide-react'
import { useState } from 'react'
import { api } from '../api/client.ts'
import { useNames } from '../api/names.ts'
import { queryClient, useList } from '../api/queries.ts'
import type { Schemas } from '../api/schema.d.ts'
import { useMay } from '../api/session.ts'
import { formatDuration } from '../lib/format.ts'
import { announce } from '../ui/announce.tsx'
import { Badge } from '../ui/badge.tsx'
import { Button, IconButton } from '../ui/button.tsx'
import { Choice } from '../ui/controls.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { lazy } from '../ui/lazy.tsx'
import { Section } from '../ui/page.tsx'
import { Empty, FaultNote, Loading } from '../ui/states.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { useMayReview } from './may-review.ts'
import { type Bucket, type BucketState, bucketConversationsOptions, newestOfBucketOptions } from './queries.ts'

const Adjudicate = lazy(async () => (await import('./adjudicate.tsx')).Adjudicate)

type Row = Schemas['BucketConversation']

const states: { value: BucketState | ''; label: string }[] = [
  { value: '', label: 'All' },
  { value: 'waiting', label: 'Waiting' },
  { value: 'adjudication', label: 'Disagreements' },
  { value: 'completed', label: 'Completed' },
]

const State = ({ status }: Row) => {
  if (status === 'adjudication') return <Badge tone="affected">Disagreement</Badge>
  return status === 'completed' ? <Badge tone="accent">Completed</Badge> : <Badge>Waiting</Badge>
}

const Nothing = ({ bucket, onPutIn }: { bucket: Bucket; onPutIn: (() => void) | undefined }) =>
  bucket.type === 'static' ? (
    <Empty title="No conversations yet" action={onPutIn && <Button onClick={onPutIn}>Add conversations</Button>}>
      <p>Add conversations with a filter here, or one at a time from a conversation’s page.</p>
    </Empty>
  ) : (
    <Empty title="No conversations yet">
      <p>
        {bucket.perWeek === null
          ? 'New conversations that match the filter appear here. Stored conversations aren’t added.'
          : 'Earshot draws each week’s sample on the following Monday.'}
      </p>
    </Empty>
  )

/** Shows the conversations in a bucket and their review status. */
export const ConversationsPart = ({ bucket, onPutIn }: { bucket: Bucket; onPutIn: (() => void) | undefined }) => {
  const { id, type } = bucket
  const { status, decide } = useSearch({ from: '/app/buckets/$id' })
  const navigate = useNavigate({ from: '/buckets/$id' })
  const list = useList(bucketConversationsOptions(id, status))
  const { data: known } = useQuery(newestOfBucketOptions(id))
  const agents = useNames('agents')
  const mayWrite = useMay('member')
  const isReviewer = useMayReview(bucket)
  const isAdmin = useMay('admin')
  const mayDecide = isReviewer || isAdmin
  const [leaving, setLeaving] = useState<string>()
  const open = (conversationId: string | undefined) =>
    void navigate({
      search: ({ decide: _, ...rest }) => ({ ...rest, ...(conversationId && { decide: conversationId }) }),
      resetScroll: false,
    })
  const columns: Column<Row>[] = [
    {
      key: 'conversation',
      label: 'Conversation',
      cell: ({ conversationId }) => {
        const found = known?.get(conversationId)
        return (
          <Link to="/conversations/$id" params={{ id: conversationId }} search={{}}>
            {found
              ? `${agents.nameOf(found.agentId)}${found.customerId ? ` with ${found.customerId}` : ''}`
              : `${conversationId.slice(0, 8)}…${conversationId.slice(-4)}`}
          </Link>
        )
      },
    },
    {
      key: 'started',
      label: 'Started',
      from: 720 as const,
      cell: ({ conversationId }) => {
        const found = known?.get(conversationId)
        return found && <Time at={found.startedAt} />
      },
    },
    {
      key: 'lasted',
      label: 'Duration',
      numeric: true,
      from: 960 as const,
      cell: ({ conversationId }) => {
        const seconds = known?.get(conversationId)?.durationSeconds
        return seconds == null ? null : formatDuration(seconds)
      },
    },
    {
      key: 'reviews',
      label: 'Reviews',
      numeric: true,
      from: 480 as const,
      cell: ({ reviewsCompleted, reviewsWanted }) => `${reviewsCompleted} of ${reviewsWanted}`,
    },
    { key: 'state', label: 'Status', cell: (row) => <State {...row} /> },
    { key: 'added', label: 'Added', from: 960, cell: ({ addedAt }) => <Time at={addedAt} ago /> },
    {
      key: 'ways',
      label: <span aria-hidden="true" />,
      numeric: true,
      cell: ({ conversationId, status: state }) => (
        <>
          {state === 'adjudication' && mayDecide && (
            <Button small onClick={() => open(conversationId)}>
              Adjudicate
            </Button>
          )}
          {type !== 'sampled' && mayWrite && state === 'waiting' && (
            <IconButton label="Remove" icon={<X />} onClick={() => setLeaving(conversationId)} />
          )}
        </>
      ),
    },
  ]
  return (
    <Section
      title="Conversations"
      actions={
        <Choice
          label="Review status"
          hideLabel
          value={status ?? ''}
          options={states}
          onChange={(value) => {
            const next = states.find((state) => state.value === value)?.value
            void navigate({ search: next ? { status: next } : {}, replace: true, resetScroll: false })
          }}
        />
      }
    >
      {list.error && <FaultNote error={list.error} retry={list.retry} />}
      {list.isPending && <Loading lines={5} />}
      {list.rows?.length === 0 &&
        (status ? (
          <Empty title="No conversations with this status" />
        ) : (
          <Nothing bucket={bucket} onPutIn={type === 'sampled' ? undefined : onPutIn} />
        ))}
      {list.rows && list.rows.length > 0 && (
        <Table
          label="Conversations in this bucket"
          columns={columns}
          rows={list.rows}
          idOf={({ conversationId }) => conversationId}
          more={list.more}
          isFetchingMore={list.isFetchingMore}
        />
      )}
      {decide && mayDecide && <Adjudicate bucket={bucket} conversationId={decide} onClose={() => open(undefined)} />}
      <Confirm
        title="Remove this conversation?"
        action="Remove conversation"
        open={leaving !== undefined}
        onClose={() => setLeaving(undefined)}
        run={async () => {
          await api.DELETE('/v1/buckets/{id}/conversations/{conversationId}', {
            params: { path: { id, conversationId: leaving ?? '' } },
          })
          await queryClient.invalidateQueries({ queryKey: ['buckets', id] })
          announce('Removed from bucket')
        }}
      >
        <p>Completed reviews are kept outside the bucket. Reviews in progress are deleted.</p>
      </Confirm>
    </Section>
  )
}
