import { useMutation } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { answer, api } from '../api/client.ts'
import { useNames } from '../api/names.ts'
import { queryClient } from '../api/queries.ts'
import { useMay } from '../api/session.ts'
import { newId } from '../lib/ids.ts'
import { ownZone } from '../lib/zones.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { ChooserOfOne } from '../ui/chooser.tsx'
import { Field, Input, Row, Select } from '../ui/controls.tsx'
import { Code } from '../ui/copy.tsx'
import { Page } from '../ui/page.tsx'
import { Empty, FaultNote } from '../ui/states.tsx'
import { type Draft, paramsOf, readDraft, startOf, tidy } from './draft.ts'
import { Calls, FileForm, Monitors, zones } from './fields.tsx'
import styles from './new-export.module.css'
import { Preview } from './preview.tsx'
import { type Config, exportsOptions, useEndpoints, watchExport } from './queries.ts'
import { requestLines } from './words.tsx'

const Notify = ({ draft, change }: { draft: Draft; change: (part: Partial<Draft>) => void }) => {
  const { active } = useEndpoints()
  if (active.length === 0) return null
  return (
    <Field label="Notify webhook endpoint">
      {(ids) => (
        <Select
          {...ids}
          value={draft.notificationEndpointId ?? ''}
          options={[{ value: '', label: 'None' }, ...active]}
          onChange={({ target }) => change({ notificationEndpointId: target.value })}
        />
      )}
    </Field>
  )
}

export const NewExport = () => {
  const { config: given } = useSearch({ from: '/app/exports/new' })
  const navigate = useNavigate({ from: '/exports/new' })
  const [draft, setDraft] = useState(() => startOf(given))
  // Each export has a new ID. A request that is retried keeps its ID.
  const [operationId, setOperationId] = useState(() => newId())
  const monitors = useNames('monitors')
  const mayWrite = useMay('member')
  const read = readDraft(draft)
  const change = (part: Partial<Draft>) => {
    const next = tidy({ ...draft, ...part })
    setDraft(next)
    setOperationId(newId())
    void navigate({ search: { config: paramsOf(next) }, replace: true })
  }
  const ask = useMutation({
    mutationFn: (config: Config) => answer(api.POST('/v1/monitor-exports', { body: { operationId, config } })),
    onSuccess: async ({ id }) => {
      await queryClient.invalidateQueries({ queryKey: exportsOptions.queryKey })
      void watchExport(id)
      await navigate({ to: '/exports' })
    },
  })
  return (
    <Page title="New export" above={<Link to="/exports">Exports</Link>}>
      {monitors.isLoaded && monitors.options.length === 0 ? (
        <Empty
          title="No monitors to export"
          action={mayWrite && <ButtonLink to="/monitors/new">Create monitor</ButtonLink>}
        >
          <p>Exports contain monitor results. Create a monitor first.</p>
        </Empty>
      ) : (
        <div className={styles.columns}>
          <form
            className={styles.form}
            aria-label="New export"
            onSubmit={(event) => {
              event.preventDefault()
              if ('config' in read && !ask.isPending) ask.mutate(read.config)
            }}
          >
            {monitors.error && <FaultNote error={monitors.error} retry={monitors.retry} />}
            <Monitors draft={draft} change={change} />
            <Row>
              <Field label="Started from">
                {(ids) => (
                  <Input
                    {...ids}
                    type="datetime-local"
                    value={draft.since}
                    onChange={({ target }) => change({ since: target.value })}
                  />
                )}
              </Field>
              <Field label="Started before">
                {(ids) => (
                  <Input
                    {...ids}
                    type="datetime-local"
                    value={draft.until}
                    onChange={({ target }) => change({ until: target.value })}
                  />
                )}
              </Field>
              <ChooserOfOne
                label="Time zone"
                options={zones}
                value={draft.timezone}
                onChange={(timezone) => change({ timezone: timezone ?? ownZone() })}
              />
            </Row>
            <Calls draft={draft} change={change} />
            <FileForm draft={draft} change={change} />
            <Notify draft={draft} change={change} />
            {ask.error && <FaultNote error={ask.error} />}
            <div>
              <Button type="submit" look="primary" busy={ask.isPending} disabled={'missing' in read}>
                Create export
              </Button>
            </div>
            {'config' in read && (
              <details>
                <summary>View as API call</summary>
                <Code>{requestLines(read.config)}</Code>
              </details>
            )}
          </form>
          <Preview read={read} />
        </div>
      )}
    </Page>
  )
}
