import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Button } from '../ui/button.tsx'
import { Field, Select } from '../ui/controls.tsx'
import { Code } from '../ui/copy.tsx'
import { FaultNote } from '../ui/states.tsx'
import styles from './new-export.module.css'
import { Preview } from './preview.tsx'
import { type Config, createExport, useEndpoints } from './queries.ts'
import { requestLines } from './words.tsx'

type Notified = { notificationEndpointId?: string }

export const Notify = ({ draft, change }: { draft: Notified; change: (part: Notified) => void }) => {
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

type Read = { config: Config } | { missing: string }

type FormProps = {
  read: Read
  /** Each export has a new ID. A request that is retried keeps its ID. */
  operationId: string
  children: ReactNode
}

/** Shows the fields for an export, and next to them a preview of its contents. */
export const ExportForm = ({ read, operationId, children }: FormProps) => {
  const navigate = useNavigate({ from: '/exports/new' })
  const ask = useMutation({
    mutationFn: (config: Config) => createExport(operationId, config),
    onSuccess: () => navigate({ to: '/exports' }),
  })
  return (
    <div className={styles.columns}>
      <form
        className={styles.form}
        aria-label="New export"
        onSubmit={(event) => {
          event.preventDefault()
          if ('config' in read && !ask.isPending) ask.mutate(read.config)
        }}
      >
        {children}
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
  )
}
