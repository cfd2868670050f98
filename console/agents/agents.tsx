import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useNames } from '../api/names.ts'
import { useList } from '../api/queries.ts'
import { useMay } from '../api/session.ts'
import { CountLink } from '../filters/count-link.tsx'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { Check, Select } from '../ui/controls.tsx'
import { Code } from '../ui/copy.tsx'
import { lazy } from '../ui/lazy.tsx'
import { ListTable } from '../ui/list-table.tsx'
import { Page } from '../ui/page.tsx'
import { Empty } from '../ui/states.tsx'
import type { Column } from '../ui/table.tsx'
import { Tabs } from '../ui/tabs.tsx'
import styles from './agents.module.css'
import { type Agent, agentsOptions, channelNames, versionName, versionOptions } from './queries.ts'
import type { AgentsSearch } from './search.ts'

const GroupDialog = lazy(async () => (await import('./groups.tsx')).GroupDialog)
const Groups = lazy(async () => (await import('./groups.tsx')).Groups)
const AgentDialog = lazy(async () => (await import('./agent-dialog.tsx')).AgentDialog)

const CurrentVersion = ({ id, currentVersionId }: { id: string; currentVersionId: string }) => {
  const { data } = useQuery(versionOptions(id, currentVersionId))
  return data ? versionName(data) : '…'
}

const useColumns = (): Column<Agent>[] => {
  const companies = useNames('companies')
  const groups = useNames('agentGroups')
  return [
    {
      key: 'name',
      label: 'Agent',
      cell: ({ id, name, archivedAt }) => (
        <>
          <Link to="/agents/$id" params={{ id }}>
            {name}
          </Link>{' '}
          {archivedAt !== null && <Badge>Archived</Badge>}
        </>
      ),
    },
    { key: 'channel', label: 'Channel', from: 480, cell: ({ channel }) => channelNames[channel] },
    {
      key: 'company',
      label: 'Company',
      from: 720 as const,
      cell: ({ companyId }) =>
        companyId && (
          <Link to="/companies/$id" params={{ id: companyId }}>
            {companies.nameOf(companyId)}
          </Link>
        ),
    },
    {
      key: 'groups',
      label: 'Groups',
      from: 960 as const,
      cell: ({ groupIds }) => (
        <span className={styles.groups}>
          {groupIds.map((id) => (
            <Badge key={id}>{groups.nameOf(id)}</Badge>
          ))}
        </span>
      ),
    },
    {
      key: 'version',
      label: 'Version',
      cell: ({ id, currentVersionId }) => (
        <div className={styles.version}>
          {currentVersionId ? (
            <CurrentVersion id={id} currentVersionId={currentVersionId} />
          ) : (
            <span className={styles.soft}>None yet</span>
          )}
        </div>
      ),
    },
    {
      key: 'conversations',
      label: 'Conversations',
      numeric: true,
      cell: ({ id, name }) => <CountLink filter={{ agentIds: [id] }} of={name} />,
    },
  ]
}

const Filters = ({ search, onChange }: { search: AgentsSearch; onChange: (search: AgentsSearch) => void }) => {
  const companies = useNames('companies')
  const groups = useNames('agentGroups')
  const { channel, companyId, groupId, archived } = search
  const set = (part: Partial<Record<keyof AgentsSearch, string | boolean>>) => {
    const filters = Object.entries({ channel, companyId, groupId, archived, ...part }).filter(([, value]) => value)
    onChange(Object.fromEntries(filters))
  }
  return (
    <div className={styles.filters}>
      <Select
        aria-label="Channel"
        value={channel ?? ''}
        options={[
          { value: '', label: 'Any channel' },
          ...Object.entries(channelNames).map(([value, label]) => ({ value, label })),
        ]}
        onChange={({ target }) => set({ channel: target.value })}
      />
      <Select
        aria-label="Company"
        value={companyId ?? ''}
        options={[{ value: '', label: 'Any company' }, ...companies.options]}
        onChange={({ target }) => set({ companyId: target.value })}
      />
      <Select
        aria-label="Group"
        value={groupId ?? ''}
        options={[{ value: '', label: 'Any group' }, ...groups.options]}
        onChange={({ target }) => set({ groupId: target.value })}
      />
      <Check
        label="Show archived"
        checked={archived === true}
        onChange={({ target }) => set({ archived: target.checked })}
      />
    </div>
  )
}

const addingLines = () => `curl ${location.origin}/v1/agents \\
  -H "Authorization: Bearer $EARSHOT_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{ "externalId": "front-desk", "name": "Front desk", "channel": "voice" }'`

const List = () => {
  const search = useSearch({ from: '/app/agents' })
  const navigate = useNavigate({ from: '/agents' })
  const list = useList(agentsOptions(search))
  const columns = useColumns()
  const asksAll = Object.keys(search).length === 0
  return (
    <>
      <Filters search={search} onChange={(next) => void navigate({ search: next, replace: true })} />
      <ListTable
        list={list}
        label="Agents"
        columns={columns}
        lines={8}
        empty={
          asksAll ? (
            <Empty title="No agents yet">
              <p>
                Earshot creates an agent when it receives the first conversation that names it. You can also create one
                yourself.
              </p>
              <Code>{addingLines()}</Code>
            </Empty>
          ) : (
            <Empty title="No agents match" />
          )
        }
      />
    </>
  )
}

export const Agents = () => {
  const { tab = 'agents' } = useSearch({ from: '/app/agents' })
  const navigate = useNavigate({ from: '/agents' })
  const mayWrite = useMay('member')
  const [asked, setAsked] = useState<'agent' | 'group'>()
  const close = () => setAsked(undefined)
  return (
    <Page
      title="Agents"
      context="Your agents and the versions of their prompts"
      actions={
        mayWrite && (
          <Button look="primary" onClick={() => setAsked(tab === 'groups' ? 'group' : 'agent')}>
            {tab === 'groups' ? 'Create group' : 'Create agent'}
          </Button>
        )
      }
    >
      <Tabs
        label="Agents and groups"
        value={tab}
        onChange={(next) => void navigate({ search: next === 'groups' ? { tab: 'groups' } : {}, replace: true })}
        tabs={[
          { value: 'agents', label: 'Agents', content: <List /> },
          { value: 'groups', label: 'Groups', content: <Groups /> },
        ]}
      />
      {asked === 'group' && <GroupDialog onClose={close} />}
      {asked === 'agent' && (
        <AgentDialog onClose={close} onSaved={({ id }) => void navigate({ to: '/agents/$id', params: { id } })} />
      )}
    </Page>
  )
}
