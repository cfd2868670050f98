import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { answer, api } from '../api/client.ts'
import { queryClient } from '../api/queries.ts'
import { useMay } from '../api/session.ts'
import { formatName, formats } from '../exports/formats.ts'
import { formatBytes, plural, sentenceCase } from '../lib/format.ts'
import { newId } from '../lib/ids.ts'
import { Button } from '../ui/button.tsx'
import { Choice } from '../ui/controls.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { Progress } from '../ui/progress.tsx'
import { Await, FaultNote } from '../ui/states.tsx'
import { Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { experimentExportsOptions } from './queries.ts'
import styles from './runs.module.css'

/** Shows an experiment's observations as files. */
export const ExperimentExports = ({ id }: { id: string }) => {
  const [format, setFormat] = useState<'csv' | 'xlsx' | 'parquet'>('csv')
  const query = useQuery(experimentExportsOptions(id))
  const mayDelete = useMay('member')
  const [leaving, setLeaving] = useState<string>()
  const changed = () => queryClient.invalidateQueries({ queryKey: ['experiments', id, 'exports'] })
  const ask = useMutation({
    mutationFn: () =>
      answer(
        api.POST('/v1/experiments/{id}/exports', {
          params: { path: { id } },
          body: { operationId: newId(), config: { format } },
        }),
      ),
    onSuccess: changed,
  })
  return (
    <div className={styles.runs}>
      <div className={styles.ask}>
        <Choice
          label="Format"
          hideLabel
          value={format}
          options={formats}
          onChange={(value) => setFormat(value as typeof format)}
        />
        <Button busy={ask.isPending} onClick={() => ask.mutate()}>
          Create export
        </Button>
      </div>
      {ask.error && <FaultNote error={ask.error} />}
      <Await query={query} lines={1}>
        {({ data }) =>
          data.length > 0 && (
            <Table
              label="Files"
              rows={data}
              idOf={(file) => file.id}
              columns={[
                { key: 'when', label: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
                { key: 'format', label: 'Format', cell: ({ config }) => formatName(config.format) },
                {
                  key: 'state',
                  label: 'Status',
                  cell: ({ status, rowCount, bytes }) =>
                    status === 'pending' || status === 'processing' ? (
                      <Progress label="Rows written" done={rowCount ?? 0} />
                    ) : status === 'completed' ? (
                      `${plural(rowCount ?? 0, 'row')} · ${formatBytes(bytes ?? 0)}`
                    ) : (
                      sentenceCase(status)
                    ),
                },
                {
                  key: 'ways',
                  label: '',
                  cell: ({ id: exportId, downloadPath, status }) => (
                    <span className={styles.ask}>
                      {downloadPath && (
                        <a href={downloadPath} download>
                          Download
                        </a>
                      )}
                      {mayDelete && !['expired', 'failed'].includes(status) && (
                        <Button small look="quiet" onClick={() => setLeaving(exportId)}>
                          Delete
                        </Button>
                      )}
                    </span>
                  ),
                },
              ]}
            />
          )
        }
      </Await>
      <Confirm
        title="Delete this file?"
        action="Delete file"
        open={leaving !== undefined}
        onClose={() => setLeaving(undefined)}
        run={async () => {
          await api.DELETE('/v1/experiments/{id}/exports/{exportId}', {
            params: { path: { id, exportId: leaving ?? '' } },
          })
          await changed()
        }}
      >
        Links to the file will stop working. If the file isn’t ready, it won’t be created. Observations are kept, and
        you can create the same export again.
      </Confirm>
    </div>
  )
}
