import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { ChevronDown } from 'lucide-react'
import { useMe } from '../api/session.ts'
import { listFormats } from '../exports/formats.ts'
import { announce } from '../ui/announce.tsx'
import { Button } from '../ui/button.tsx'
import { Menu } from '../ui/menu.tsx'
import type { ListState } from './search.ts'

/** This code loads on demand, because the list doesn't need it. */
const loadList = () => import('../exports/export-list.ts')

type ExportMenuProps = { state: ListState; label?: string; small?: boolean; disabled?: boolean }

/** Exports exactly the list: its filter, columns, and order. */
export const ExportMenu = ({ state, label = 'Export', small = false, disabled = false }: ExportMenuProps) => {
  const me = useMe()
  const navigate = useNavigate()
  const create = useMutation({
    mutationFn: async (format: (typeof listFormats)[number]['value']) =>
      (await loadList()).exportList(state, format, me.entitlements),
    onSuccess: () => navigate({ to: '/exports' }),
    onError: ({ message }) => announce('Export failed', message),
  })
  const choose = async () => {
    const list = await (await loadList()).exportableList(state, me.entitlements)
    await navigate({ to: '/exports/new', search: { list } })
  }
  if (!me.features.monitorExports) return null
  return (
    <Menu
      trigger={
        <Button busy={create.isPending} small={small} disabled={disabled}>
          {label} <ChevronDown aria-hidden="true" />
        </Button>
      }
      entries={[
        ...listFormats.map(({ value, label }) => ({ label, onSelect: () => create.mutate(value) })),
        { label: 'More options…', onSelect: () => void choose() },
      ]}
    />
  )
}
