import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { Download, Ellipsis } from 'lucide-react'
import { useEffect, useState } from 'react'
import { api } from '../api/client.ts'
import { queryClient, useList } from '../api/queries.ts'
import { useMay } from '../api/session.ts'
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
import styles from './exports.module.css'
import { type Export, exportsOptions, isUnderway, previewOptions, watchExport } from './queries.ts'
import { ConfigWords, formatName, requestLines } from './words.tsx'

const failures: Record<NonNullable<Export['errorCode']>, string> = {
  too_many_calls: 'More calls than an export may hold. Ask for a shorter window.',
  generation_failed: 'It could not be made. Ask again; tell the operator if it fails again.',
  storage_unavailable: 'The file storage could not be reached. Ask again later.',
  timed_out: 'It took too long. Ask for a shorter window.',
  cancelled: 'It was cancelled.',
}

/** How far an export is, of as many rows as it would have now. */
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

const Ways = ({ row, onShow, onDelete }: { row: Export; onShow: () => void; onDelete: () => void }) => {
  const navigate = useNavigate()
  const mayDelete = useMay('member')
  return (
    <span className={styles.ways}>
      {row.downloadPath && (
        <a className={styles.download} href={row.downloadPath} download>
          <Download aria-hidden="true" /> Download
        </a>
      )}
      <Menu
        trigger={<IconButton label="More" icon={<Ellipsis />} />}
        entries={[
          {
            label: 'Again with the same settings',
            onSelect: () => void navigate({ to: '/exports/new', search: { config: row.config } }),
          },
          { label: 'As an API call', onSelect: onShow },
          ...(mayDelete && (isUnderway(row) || row.status === 'completed')
            ? [{ label: isUnderway(row) ? 'Cancel' : 'Delete the file', danger: true, onSelect: onDelete }]
            : []),
        ]}
      />
    </span>
  )
}

export const Exports = () => {
  const list = useList(exportsOptions)
  const [shown, setShown] = useState<Export>()
  const [leaving, setLeaving] = useState<Export>()
  const { rows } = list
  useEffect(() => {
    for (const row of rows ?? []) if (isUnderway(row)) void watchExport(row.id)
  }, [rows])
  const columns: Column<Export>[] = [
    { key: 'asked', label: 'Asked for', cell: ({ createdAt }) => <Time at={createdAt} /> },
    {
      key: 'what',
      label: 'What',
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
    { key: 'state', label: 'State', cell: (row) => <State row={row} /> },
    { key: 'kept', label: 'Kept until', from: 720, cell: ({ expiresAt }) => expiresAt && <Time at={expiresAt} /> },
    {
      key: 'ways',
      label: <span className={styles.hidden}>Ways on</span>,
      cell: (row) => <Ways row={row} onShow={() => setShown(row)} onDelete={() => setLeaving(row)} />,
    },
  ]
  const action = (
    <ButtonLink look="primary" to="/exports/new" search={{}}>
      New export
    </ButtonLink>
  )
  return (
    <Page
      title="Exports"
      context="What monitors found, one row a call, as a file."
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
          <Empty title="No export yet" action={action}>
            <p>
              An export holds the results of chosen monitors, a row a call, as CSV, Excel or Parquet; up to{' '}
              {formatCount(100_000)} calls. It is made in the background and kept for 30 days.
            </p>
          </Empty>
        }
      />
      <Dialog title="The same as an API call" open={shown !== undefined} onClose={() => setShown(undefined)} wide>
        {shown && <Code>{requestLines(shown.config)}</Code>}
      </Dialog>
      {leaving && (
        <Confirm
          title={isUnderway(leaving) ? 'Cancel this export?' : 'Delete this file?'}
          action={isUnderway(leaving) ? 'Cancel the export' : 'Delete the file'}
          open
          onClose={() => setLeaving(undefined)}
          run={async () => {
            await api.DELETE('/v1/monitor-exports/{id}', { params: { path: { id: leaving.id } } })
            await queryClient.invalidateQueries({ queryKey: exportsOptions.queryKey })
          }}
        >
          {isUnderway(leaving) ? 'No file will come of it.' : 'The file goes, and links to it stop working.'} The
          results stay, and the same can be asked for again.
        </Confirm>
      )}
    </Page>
  )
}
