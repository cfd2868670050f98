import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { MoreHorizontal } from 'lucide-react'
import { useState } from 'react'
import { api } from '../api/client.ts'
import { useNames } from '../api/names.ts'
import { queryClient } from '../api/queries.ts'
import { useMay } from '../api/session.ts'
import { announce } from '../ui/announce.tsx'
import { Button, ButtonLink, IconButton } from '../ui/button.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { lazy } from '../ui/lazy.tsx'
import { Menu } from '../ui/menu.tsx'
import { Facts, Page, Section } from '../ui/page.tsx'
import { FaultNote, Loading } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import { AgreementPart } from './agreement.tsx'
import { ConversationsPart } from './bucket-conversations.tsx'
import { Selects } from './buckets.tsx'
import { useMayReview } from './may-review.ts'
import { ProgressPart } from './progress.tsx'
import { bucketOptions, progressOptions, type Bucket as Read } from './queries.ts'
import { describeReviewers, typeWords } from './words.ts'

const BucketForm = lazy(async () => (await import('./bucket-form.tsx')).BucketForm)
const AddConversations = lazy(async () => (await import('./add-conversations.tsx')).AddConversations)

const Settings = ({ bucket }: { bucket: Read }) => {
  const people = useNames('members')
  const monitors = useNames('monitors')
  const agents = useNames('agents')
  const { reviewerUserIds, monitorIds, agentId, blind, noteOnDisagreement } = bucket
  const names = (ids: string[], nameOf: (id: string) => string, none: string) =>
    ids.length === 0 ? none : ids.map(nameOf).join(', ')
  return (
    <Section title="Settings">
      <Facts
        facts={[
          ['Type', typeWords[bucket.type]],
          ['Filter', <Selects key="with" bucket={bucket} />],
          ...(agentId ? [['Agent', agents.nameOf(agentId)] as [string, string]] : []),
          ['Reviewers', `${describeReviewers(bucket)}, ${names(reviewerUserIds, people.nameOf, 'all members')}`],
          ['Monitors', names(monitorIds, monitors.nameOf, 'Reviewer’s choice')],
          ['Blind', blind ? 'Yes' : 'No'],
          [
            'Notes',
            noteOnDisagreement ? (blind ? 'Required with every judgment' : 'Required on disagreement') : 'Optional',
          ],
          ['Created', <Time key="made" at={bucket.createdAt} />],
        ]}
      />
    </Section>
  )
}

const Actions = ({ bucket, onEdit, onPutIn }: { bucket: Read; onEdit: () => void; onPutIn: () => void }) => {
  const navigate = useNavigate()
  const [deleting, setDeleting] = useState(false)
  const mayWrite = useMay('member')
  const mayReview = useMayReview(bucket)
  const { data } = useQuery(progressOptions(bucket.id))
  return (
    <>
      {mayWrite && bucket.type !== 'sampled' && <Button onClick={onPutIn}>Add conversations</Button>}
      {mayReview && data !== undefined && data.reviews.waiting > 0 && (
        <ButtonLink look="primary" to="/review/$bucketId" params={{ bucketId: bucket.id }} search={{}}>
          Start reviewing
        </ButtonLink>
      )}
      {mayWrite && (
        <Menu
          trigger={<IconButton label="More actions" icon={<MoreHorizontal />} />}
          entries={[
            { label: 'Edit bucket…', onSelect: onEdit },
            { label: 'Delete bucket…', onSelect: () => setDeleting(true), danger: true },
          ]}
        />
      )}
      <Confirm
        title={`Delete “${bucket.name}”?`}
        action="Delete bucket"
        open={deleting}
        onClose={() => setDeleting(false)}
        run={async () => {
          await api.DELETE('/v1/buckets/{id}', { params: { path: { id: bucket.id } } })
          await navigate({ to: '/buckets', search: {} })
          queryClient.removeQueries({ queryKey: ['buckets', bucket.id] })
          await queryClient.invalidateQueries({ queryKey: ['buckets'] })
          announce('Bucket deleted', bucket.name)
        }}
      >
        <p>This also deletes reviews in progress. Conversations and completed reviews are kept.</p>
      </Confirm>
    </>
  )
}

const back = (
  <Link to="/buckets" search={{}}>
    Buckets
  </Link>
)

export const Bucket = () => {
  const { id } = useParams({ from: '/app/buckets/$id' })
  const { edit = false } = useSearch({ from: '/app/buckets/$id' })
  const navigate = useNavigate({ from: '/buckets/$id' })
  const [adding, setAdding] = useState(false)
  const mayWrite = useMay('member')
  const { data: bucket, error, refetch } = useQuery(bucketOptions(id))
  const setEdit = (next: boolean) => void navigate({ search: next ? { edit: true } : {} })
  if (!bucket) {
    return (
      <Page title="Bucket" above={back}>
        {error ? <FaultNote error={error} retry={() => void refetch()} /> : <Loading lines={8} />}
      </Page>
    )
  }
  if (edit && mayWrite) {
    return (
      <Page title={`Edit ${bucket.name}`} above={back}>
        <BucketForm bucket={bucket} onDone={() => setEdit(false)} onCancel={() => setEdit(false)} />
      </Page>
    )
  }
  return (
    <Page
      title={bucket.name}
      above={back}
      context={
        bucket.type === 'static' ? (
          typeWords.static
        ) : (
          <>
            {typeWords[bucket.type]}: <Selects bucket={bucket} />
          </>
        )
      }
      actions={<Actions bucket={bucket} onEdit={() => setEdit(true)} onPutIn={() => setAdding(true)} />}
    >
      <ProgressPart bucket={bucket} />
      <ConversationsPart bucket={bucket} onPutIn={mayWrite ? () => setAdding(true) : undefined} />
      <AgreementPart bucket={bucket} />
      <Settings bucket={bucket} />
      {adding && <AddConversations bucket={bucket} onClose={() => setAdding(false)} />}
    </Page>
  )
}
