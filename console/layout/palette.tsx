import { Autocomplete } from '@base-ui/react/autocomplete'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useNames } from '../api/names.ts'
import { useMay, useMe } from '../api/session.ts'
import { Dialog } from '../ui/dialog.tsx'
import menu from '../ui/menu.module.css'
import styles from './palette.module.css'
import { useNavigationItems } from './rail.tsx'

type Target = { key: string; kind: string; label: string; go: () => void }

const isUuid = (text: string) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text.trim())

const Targets = ({ onClose }: { onClose: () => void }) => {
  const navigate = useNavigate()
  const [text, setText] = useState('')
  const places = useNavigationItems().flat()
  const { entitlements, features } = useMe()
  const [mayWrite, mayManage] = [useMay('member'), useMay('admin')]
  const monitors = useNames('monitors')
  const agents = useNames('agents')
  const target = (kind: string, label: string, go: () => unknown, id = label): Target => ({
    key: `${kind} ${id}`,
    kind,
    label,
    go: () => {
      onClose()
      go()
    },
  })
  const id = text.trim().toLowerCase()
  const matches: Target[] = isUuid(text)
    ? [
        target('Conversation', id, () => navigate({ to: '/conversations/$id', params: { id }, search: {} })),
        target('Monitor', id, () => navigate({ to: '/monitors/$id', params: { id }, search: {} })),
        target('Finding', id, () => navigate({ to: '/findings/$id', params: { id } })),
      ]
    : []
  const search =
    id === '' || isUuid(text)
      ? []
      : [
          target('Search', `Conversations that contain “${text.trim()}”`, () =>
            navigate({ to: '/conversations', search: { filter: { text: text.trim() } } }),
          ),
        ]
  const named = [
    ...places.map(({ label, to }) => target('Page', label, () => navigate({ to: to ?? '/' }))),
    target('Page', 'Compare', () => navigate({ to: '/compare' })),
    mayWrite && entitlements.monitors && target('Action', 'Create monitor', () => navigate({ to: '/monitors/new' })),
    features.monitorExports && target('Action', 'Create export', () => navigate({ to: '/exports/new', search: {} })),
    mayManage && target('Action', 'Launch experiment', () => navigate({ to: '/experiments/new' })),
    mayManage &&
      target('Action', 'Create API key', () => navigate({ to: '/settings/$part', params: { part: 'api-keys' } })),
    ...monitors.options.map(({ value, label }) =>
      target('Monitor', label, () => navigate({ to: '/monitors/$id', params: { id: value }, search: {} })),
    ),
    ...agents.options.map(({ value, label }) =>
      target('Agent', label, () => navigate({ to: '/agents/$id', params: { id: value } })),
    ),
  ].filter((item): item is Target => item !== false && `${item.kind} ${item.label}`.toLowerCase().includes(id))
  const targets = matches.length > 0 ? matches : named
  return (
    <Autocomplete.Root
      inline
      open
      items={[...targets.slice(0, 50), ...search]}
      filter={null}
      value={text}
      onValueChange={(value, { reason }) => reason !== 'item-press' && setText(value)}
      itemToStringValue={({ label }: Target) => label}
      autoHighlight="always"
    >
      <Autocomplete.Input
        className={styles.input}
        aria-label="Search"
        placeholder="Search pages, monitors, conversation IDs, or transcripts…"
      />
      <Autocomplete.List className={styles.list}>
        {(item: Target) => (
          <Autocomplete.Item key={item.key} value={item} className={`${menu.item} ${styles.item}`} onClick={item.go}>
            <span className={styles.label}>{item.label}</span>
            <span className={styles.kind}>{item.kind}</span>
          </Autocomplete.Item>
        )}
      </Autocomplete.List>
    </Autocomplete.Root>
  )
}

/** Finds pages, conversations, monitors, and actions. */
export const Palette = ({ onClose }: { onClose: () => void }) => (
  <Dialog title="Search" open onClose={onClose}>
    <Targets onClose={onClose} />
  </Dialog>
)
