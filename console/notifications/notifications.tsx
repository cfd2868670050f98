import { useMutation } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useList } from '../api/queries.ts'
import { Badge } from '../ui/badge.tsx'
import { Button, ButtonLink } from '../ui/button.tsx'
import { Choice, Select } from '../ui/controls.tsx'
import { ListTable } from '../ui/list-table.tsx'
import { Page } from '../ui/page.tsx'
import { Empty, FaultNote } from '../ui/states.tsx'
import type { Column } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { kinds, kindWords } from './kinds.ts'
import styles from './notifications.module.css'
import { markRead, type Notification, notificationsOptions } from './queries.ts'
import type { NotificationsSearch } from './search.ts'

const kindOptions = [
  { value: '', label: 'All kinds' },
  ...kinds.map((kind) => ({ value: kind, label: kindWords[kind].label })),
]

const views = [
  { value: 'all', label: 'All' },
  { value: 'unread', label: 'Unread' },
]

const useReading = () => useMutation({ mutationFn: markRead })

const columnsOf = (reading: ReturnType<typeof useReading>): Column<Notification>[] => [
  {
    key: 'text',
    label: 'Notification',
    cell: ({ id, text, url, readAt }) => (
      <div className={styles.text}>
        {/* The service only names pages of the console. */}
        <Link
          to={new URL(url).pathname as '/'}
          className={readAt === null ? styles.unread : undefined}
          onClick={() => readAt === null && reading.mutate({ ids: [id] })}
        >
          {text}
        </Link>
        {readAt === null && <Badge tone="accent">Unread</Badge>}
      </div>
    ),
  },
  { key: 'kind', label: 'Kind', from: 720, cell: ({ kind }) => kindWords[kind].label },
  { key: 'created', label: 'Received', from: 480, cell: ({ createdAt }) => <Time at={createdAt} ago /> },
  {
    key: 'ways',
    label: '',
    from: 480,
    cell: ({ id, text, readAt }) =>
      readAt === null && (
        <div className={styles.ways}>
          <Button small look="quiet" aria-label={`Mark as read: ${text}`} onClick={() => reading.mutate({ ids: [id] })}>
            Mark as read
          </Button>
        </div>
      ),
  },
]

export const Notifications = () => {
  const search = useSearch({ from: '/app/notifications' })
  const { unread = false, kind } = search
  const navigate = useNavigate({ from: '/notifications' })
  const list = useList(notificationsOptions({ unread, ...(kind && { kind }) }))
  const reading = useReading()
  const show = (next: NotificationsSearch) => void navigate({ search: next, replace: true })
  return (
    <Page
      title="Notifications"
      context="The last 90 days"
      actions={
        <>
          <ButtonLink to="/settings/$part" params={{ part: 'notifications' }}>
            Preferences
          </ButtonLink>
          <Button busy={reading.isPending} onClick={() => reading.mutate({ all: true })}>
            Mark all as read
          </Button>
        </>
      }
    >
      <div className={styles.stack}>
        <div className={styles.filters}>
          <Choice
            label="Show"
            hideLabel
            value={unread ? 'unread' : 'all'}
            options={views}
            onChange={(view) => show({ ...(view === 'unread' && { unread: true }), ...(kind && { kind }) })}
          />
          <div className={styles.kind}>
            <Select
              aria-label="Kind"
              value={kind ?? ''}
              options={kindOptions}
              onChange={({ target }) =>
                show({
                  ...(unread && { unread }),
                  // The options above only have kinds as values.
                  ...(target.value && { kind: target.value as Notification['kind'] }),
                })
              }
            />
          </div>
        </div>
        {reading.error && <FaultNote error={reading.error} />}
        <ListTable
          list={list}
          label="Notifications"
          columns={columnsOf(reading)}
          empty={
            unread || kind ? (
              <Empty title={unread ? 'No unread notifications' : 'No notifications of this kind'} />
            ) : (
              <Empty title="No notifications yet">
                <p>
                  Incidents, findings assigned to you, mentions, exports, and review requests appear here. Choose which
                  ones in your preferences.
                </p>
              </Empty>
            )
          }
        />
      </div>
    </Page>
  )
}
