// The deliveries of integrations and those of webhook endpoints both use this file.
import { useNavigate, useSearch } from '@tanstack/react-router'
import { sentenceCase } from '../lib/format.ts'
import { Button } from '../ui/button.tsx'
import { Select } from '../ui/controls.tsx'
import type { Column } from '../ui/table.tsx'
import styles from './settings.module.css'

/** Returns the status in the URL, if any. */
export const useStatusFilter = <State extends string>(states: State[]): State | undefined => {
  const { status } = useSearch({ from: '/app/settings/$part' })
  return states.find((known) => known === status)
}

type StateFilterProps = { id: string; states: string[]; asked: string | undefined }

export const StateFilter = ({ id, states, asked }: StateFilterProps) => {
  const navigate = useNavigate({ from: '/settings/$part' })
  return (
    <div className={styles.status}>
      <Select
        aria-label="Delivery status"
        value={asked ?? ''}
        options={[{ value: '', label: 'All' }, ...states.map((value) => ({ value, label: sentenceCase(value) }))]}
        onChange={({ target }) =>
          void navigate({ search: { open: id, ...(target.value && { status: target.value }) }, replace: true })
        }
      />
    </div>
  )
}

export const whyColumn: Column<{ reason: string | null }> = {
  key: 'why',
  label: 'Reason',
  from: 720,
  cell: ({ reason }) => (
    <div className={styles.long} title={reason ?? undefined}>
      {reason}
    </div>
  ),
}

export const InspectButton = ({ what, onClick }: { what: string; onClick: () => void }) => (
  <div className={styles.cellWays}>
    <Button small look="quiet" aria-label={`Inspect ${what}`} onClick={onClick}>
      Inspect
    </Button>
  </div>
)
