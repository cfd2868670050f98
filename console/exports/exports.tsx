import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { Download, Ellipsis } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useMay, useMe } from '../api/session.ts'
import { formatBytes, formatCount, plural } from '../lib/format.ts'
import { Badge } from '../ui/badge.tsx'
import { ButtonLink, IconButton } from '../ui/button.tsx'
import { Code } from '../ui/copy.tsx'
import { Confirm, Dialog } from '../ui/dialog.tsx'
import { ListTable } from '../ui/list-table.tsx'
import { Menu } from '../ui/menu.tsx'
import { Page } from '../ui/page.tsx'
import { Progress } from '../ui/progress.tsx'
import { Empty } from '../ui/states.tsx'
import type { Column } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { ConfigWords } from './config-words.tsx'
import styles from './exports.module.css'
import { formatName } from './formats.ts'
import { deleteExport, type Export, isOfList, isUnderway, previewOptions, useExports, watchExport } from './queries.ts'
import { requestLines } from './words.tsx'

const failures: Record<NonNullable<Export['errorCode']>, string> = {
  too_many_calls: 'Too many conversations for one export. Choose a shorter period.',
  generation_failed: 'The export couldn’t be created. Try again, and contact your operator if it fails again.',
  storage_unavailable: 'The file storage couldn’t be reached. Try again later.',
  timed_out: 'The export timed out. Choose a shorter period.',
  cancelled: 'Cancelled.',
}

/** Shows an export's progress, compared with the rows that it would have now. */
const Underway = ({ row }: { row: Export }) => {
  const { data } = useQuery({ ...previewOptions(row.config), staleTime: Number.POSITIVE_INFINITY })
  return <Progress label="Rows written" done={row.rowCount ?? 0} total={data?.count} />
}

const State = ({ row }: { row: Export }) => {
  if (isUnderway(row)) return <Underway row={row} />
  if (row.status === 'failed') {
    return (
      <span className={styles.failure}>
        <Badge tone="failed">Failed</Badge> {failures[row.errorCode ?? 'generation_failed']}
      </span>
    )
  }
  if (row.status === 'expired') return <Badge>Expired</Badge>
  return (
    <span className={styles.counts}>
      {plural(row.rowCount ?? 0, 'row')}
      {row.bytes !== null && ` · ${formatBytes(row.bytes)}`}
    </span>
  )
}

const Actions = ({ row, onShow, onDelete }: { row: Export; onShow: () => void; onDelete: () => void }) => {
  const navigate = useNavigate()
  const mayDelete = useMay('member')
  const { entitlements } = useMe()
  const maySchedule = useMay('admin') && entitlements.monitors && !isUnderway(row)
  const asSearch = isOfList(row.config) ? { list: row.config } : { config: row.config }
  return (
    <span className={styles.ways}>
      {maySchedule && (
        <ButtonLink small look="quiet" to="/exports/schedules/new" search={asSearch}>
          Schedule this
        </ButtonLink>
      )}
      {row.downloadPath && (
        <a className={styles.download} href={row.downloadPath} download>
          <Download aria-hidden="true" /> Download
        </a>
      )}
      <Menu
        trigger={<IconButton label="More actions" icon={<Ellipsis />} />}
        entries={[
          {
            label: 'Create again',
            onSelect: () => void navigate({ to: '/exports/new', search: asSearch }),
          },
          { label: 'View as API call', onSelect: onShow },
          ...(mayDelete && (isUnderway(row) || row.status === 'completed')
            ? [{ label: isUnderway(row) ? 'Cancel export' : 'Delete file', danger: true, onSelect: onDelete }]
            : []),
        ]}
      />
    </span>
  )
}

export const Exports = () => {
  const list = useExports()
  const [shown, setShown] = useState<Export>()
  const [leaving, setLeaving] = useState<Export>()
  const { rows } = list
  useEffect(() => {
    for (const row of rows ?? []) if (isUnderway(row)) void watchExport(row)
  }, [rows])
  const columns: Column<Export>[] = [
    { key: 'asked', label: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
    {
      key: 'what',
      label: 'Content',
      cell: ({ config, scheduleId, scheduleName }) => (
        <>
          {scheduleId !== undefined && (
            <>
              <Link to="/exports/schedules/$id" params={{ id: scheduleId }}>
                {scheduleName}
              </Link>
              {': '}
            </>
          )}
          <ConfigWords config={config} />
        </>
      ),
    },
    { key: 'format', label: 'Format', from: 480, cell: ({ config }) => formatName(config.format) },
    { key: 'state', label: 'Status', cell: (row) => <State row={row} /> },
    { key: 'kept', label: 'Expires', from: 720, cell: ({ expiresAt }) => expiresAt && <Time at={expiresAt} /> },
    {
      key: 'ways',
      label: <span className={styles.hidden}>Actions</span>,
      cell: (row) => <Actions row={row} onShow={() => setShown(row)} onDelete={() => setLeaving(row)} />,
    },
  ]
  const action = (
    <ButtonLink look="primary" to="/exports/new" search={{}}>
      Create export
    </ButtonLink>
  )
  return (
    <Page
      title="Exports"
      context="Conversation lists and monitor results as files"
      actions={
        <>
          <ButtonLink to="/exports/schedules">Schedules</ButtonLink>
          {action}
        </>
      }
    >
      <ListTable
        list={list}
        label="Exports"
        columns={columns}
        empty={
          <Empty title="No exports yet" action={action}>
            <p>
              An export is a file with one row per conversation. It contains any list with its columns, or the results
              of the monitors you choose, for up to {formatCount(100_000)} conversations. Files are available for 30
              days.
            </p>
          </Empty>
        }
      />
      <Dialog title="API call" open={shown !== undefined} onClose={() => setShown(undefined)} wide>
        {shown && <Code>{requestLines(shown.config)}</Code>}
      </Dialog>
      {leaving && (
        <Confirm
          title={isUnderway(leaving) ? 'Cancel this export?' : 'Delete this file?'}
          action={isUnderway(leaving) ? 'Cancel export' : 'Delete file'}
          open
          onClose={() => setLeaving(undefined)}
          run={() => deleteExport(leaving)}
        >
          {isUnderway(leaving) ? 'No file will be created.' : 'Links to the file will stop working.'} Results are kept,
          and you can create the same export again.
        </Confirm>
      )}
    </Page>
  )
}
