import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useNames } from '../api/names.ts'
import { useMe } from '../api/session.ts'
import { newId } from '../lib/ids.ts'
import { ExportForm, Notify } from './export-form.tsx'
import { exportable, startOfList } from './list-draft.ts'
import { ListFields } from './list-fields.tsx'
import type { ListConfig } from './queries.ts'

export const ListForm = ({ given }: { given: Partial<ListConfig> }) => {
  const navigate = useNavigate({ from: '/exports/new' })
  const { entitlements } = useMe()
  const monitors = useNames('monitors')
  const [draft, setDraft] = useState(() => startOfList(given))
  const [operationId, setOperationId] = useState(() => newId())
  const change = (part: Partial<ListConfig>) => {
    const { notificationEndpointId, ...next } = { ...draft, ...part }
    const changed = { ...next, ...(notificationEndpointId && { notificationEndpointId }) }
    setDraft(changed)
    setOperationId(newId())
    void navigate({ search: { list: changed }, replace: true })
  }
  return (
    <ExportForm read={{ config: exportable(draft, entitlements, monitors.options) }} operationId={operationId}>
      <ListFields list={draft} change={change} />
      <Notify draft={draft} change={change} />
    </ExportForm>
  )
}
