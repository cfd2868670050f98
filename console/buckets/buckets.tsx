import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useNames } from '../api/names.ts'
import { useMay } from '../api/session.ts'
import { useCount } from '../filters/count.ts'
import { plural } from '../lib/format.ts'
import { Button } from '../ui/button.tsx'
import { lazy } from '../ui/lazy.tsx'
import { Page } from '../ui/page.tsx'
import { Progress } from '../ui/progress.tsx'
import { Await, Empty } from '../ui/states.tsx'
import { type Column, Table } from '../ui/table.tsx'
import styles from './buckets.module.css'
import { type Bucket, bucketsOptions, progressOptions } from './queries.ts'
import { typeWords } from './words.ts'

const BucketForm = lazy(async () => (await import('./bucket-form.tsx')).BucketForm)

/** Describes the filter in words. */
export const Selects = ({ bucket: { type, filters, share, perWeek } }: { bucket: Bucket }) => {
  const isAll = Object.keys(filters).length === 0
  const { data } = useCount(filters)
  if (type === 'static') return <span className={styles.soft}>Added manually</span>
  const what = isAll ? 'all conversations' : (data?.explanation ?? '…')
  if (type === 'dynamic') return what
  return share === null ? `${plural(perWeek ?? 0, 'conversation')} per week of ${what}` : `${share}% of ${what}`
}

const Done = ({ bucket: { id, name } }: { bucket: Bucket }) => {
  const { data } = useQuery(progressOptions(id))
  if (!data) return null
  const { completed, total } = data.conversations
  if (total === 0) return <span className={styles.soft}>No conversations yet</span>
  return (
    <Link to="/conversations" search={{ filter: { bucketId: id } }} className={styles.progress}>
      <Progress label={`Reviewed in ${name}`} done={completed} total={total} />
    </Link>
  )
}

const Reviewers = ({ ids }: { ids: string[] }) => {
  const { nameOf } = useNames('members')
  if (ids.length === 0) return <span className={styles.soft}>All members</span>
  if (ids.length <= 2) return ids.map(nameOf).join(', ')
  return (
    <span className={styles.several}>
      <span>{nameOf(ids[0] ?? '')}</span> and {plural(ids.length - 1, 'other')}
    </span>
  )
}

const columns: Column<Bucket>[] = [
  {
    key: 'name',
    label: 'Bucket',
    cell: ({ id, name }) => (
      <Link to="/buckets/$id" params={{ id }} search={{}} className={styles.name}>
        {name}
      </Link>
    ),
  },
  { key: 'type', label: 'Type', from: 720, cell: ({ type }) => typeWords[type] },
  {
    key: 'filter',
    label: 'Filter',
    from: 960,
    cell: (bucket) => (
      <div className={styles.filter}>
        <Selects bucket={bucket} />
      </div>
    ),
  },
  {
    key: 'reviewers',
    label: 'Reviewers',
    from: 960,
    cell: ({ reviewerUserIds }) => (
      <div className={styles.reviewers}>
        <Reviewers ids={reviewerUserIds} />
      </div>
    ),
  },
  {
    key: 'done',
    label: 'Reviewed',
    cell: (bucket) => (
      <div className={styles.done}>
        <Done bucket={bucket} />
      </div>
    ),
  },
]

const Teaching = ({ make }: { make: (() => void) | undefined }) => (
  <Empty
    title="No buckets yet"
    action={
      make && (
        <Button look="primary" onClick={make}>
          Create bucket
        </Button>
      )
    }
  >
    <p>
      A bucket is a set of conversations to review. Earshot assigns each conversation to one reviewer at a time. Reviews
      measure how accurate your monitors are, and a random sample also corrects their rates.
    </p>
  </Empty>
)

export const Buckets = () => {
  const { make = false } = useSearch({ from: '/app/buckets' })
  const navigate = useNavigate({ from: '/buckets' })
  const buckets = useQuery(bucketsOptions)
  const mayWrite = useMay('member')
  const open = (next: boolean) => void navigate({ search: next ? { make: true } : {} })
  if (make && mayWrite) {
    return (
      <Page
        title="Create bucket"
        above={
          <Link to="/buckets" search={{}}>
            Buckets
          </Link>
        }
      >
        <BucketForm
          onDone={({ id }) => void navigate({ to: '/buckets/$id', params: { id }, search: {}, replace: true })}
          onCancel={() => open(false)}
        />
      </Page>
    )
  }
  return (
    <Page
      title="Buckets"
      context="Sets of conversations to review"
      actions={
        mayWrite && (
          <Button look="primary" onClick={() => open(true)}>
            Create bucket
          </Button>
        )
      }
    >
      <Await query={buckets} lines={6}>
        {(rows) =>
          rows.length === 0 ? (
            <Teaching make={mayWrite ? () => open(true) : undefined} />
          ) : (
            <Table label="Buckets" columns={columns} rows={rows} idOf={({ id }) => id} />
          )
        }
      </Await>
    </Page>
  )
}
