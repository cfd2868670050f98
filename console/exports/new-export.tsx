import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useNames } from '../api/names.ts'
import { useMay, useMe } from '../api/session.ts'
import { newId } from '../lib/ids.ts'
import { ownZone } from '../lib/zones.ts'
import { ButtonLink } from '../ui/button.tsx'
import { ChooserOfOne } from '../ui/chooser.tsx'
import { Choice, Field, Input, Row } from '../ui/controls.tsx'
import { lazy } from '../ui/lazy.tsx'
import { Page } from '../ui/page.tsx'
import { Empty, FaultNote, Loading } from '../ui/states.tsx'
import { type Draft, paramsOf, readDraft, startOf, tidy } from './draft.ts'
import { ExportForm, Notify } from './export-form.tsx'
import { Calls, FileForm, Monitors, zones } from './fields.tsx'

/** Most of its code belongs to the list of conversations. */
const ListForm = lazy(async () => (await import('./list-form.tsx')).ListForm, <Loading lines={8} />)

const ResultsForm = ({ given }: { given: Parameters<typeof startOf>[0] }) => {
  const navigate = useNavigate({ from: '/exports/new' })
  const [draft, setDraft] = useState(() => startOf(given))
  const [operationId, setOperationId] = useState(() => newId())
  const monitors = useNames('monitors')
  const mayWrite = useMay('member')
  const change = (part: Partial<Draft>) => {
    const next = tidy({ ...draft, ...part })
    setDraft(next)
    setOperationId(newId())
    void navigate({ search: { config: paramsOf(next) }, replace: true })
  }
  if (monitors.isLoaded && monitors.options.length === 0) {
    return (
      <Empty
        title="No monitors to export"
        action={mayWrite && <ButtonLink to="/monitors/new">Create monitor</ButtonLink>}
      >
        <p>These exports contain monitor results. Create a monitor first.</p>
      </Empty>
    )
  }
  return (
    <ExportForm read={readDraft(draft)} operationId={operationId}>
      {monitors.error && <FaultNote error={monitors.error} retry={monitors.retry} />}
      <Monitors draft={draft} change={change} />
      <Row>
        <Field label="Started at or after">
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
    </ExportForm>
  )
}

const contents = [
  { value: 'results', label: 'Monitor results' },
  { value: 'list', label: 'Conversation list' },
]

export const NewExport = () => {
  const { config, list } = useSearch({ from: '/app/exports/new' })
  const navigate = useNavigate({ from: '/exports/new' })
  const { entitlements } = useMe()
  const content = list || !entitlements.monitors ? 'list' : 'results'
  return (
    <Page title="New export" above={<Link to="/exports">Exports</Link>}>
      {entitlements.monitors && (
        <Choice
          label="Content"
          value={content}
          options={contents}
          onChange={(value) => void navigate({ search: value === 'list' ? { list: {} } : {}, replace: true })}
        />
      )}
      {content === 'list' ? <ListForm given={list ?? {}} /> : <ResultsForm given={config} />}
    </Page>
  )
}
