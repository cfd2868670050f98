import { useNavigate, useSearch } from '@tanstack/react-router'
import { Maximize2, MessageSquare, Phone, Voicemail, X } from 'lucide-react'
import { useNames } from '../api/names.ts'
import { useList } from '../api/queries.ts'
import { useMe } from '../api/session.ts'
import type { ExportSearch } from '../exports/search.ts'
import { FilterBar } from '../filters/filter-bar.tsx'
import { boundsOf } from '../filters/periods.ts'
import { formatDuration, sentenceCase } from '../lib/format.ts'
import { Badge } from '../ui/badge.tsx'
import { ButtonLink, IconButton } from '../ui/button.tsx'
import { lazy } from '../ui/lazy.tsx'
import { LongTable } from '../ui/long-table.tsx'
import { Page } from '../ui/page.tsx'
import split from '../ui/split.module.css'
import { Empty, FaultNote, Loading } from '../ui/states.tsx'
import type { Column } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import styles from './conversations.module.css'
import { NewConversations } from './new-conversations.tsx'
import { type Conversation, conversationsOptions } from './queries.ts'
import type { Filter } from './search.ts'
import type { Position } from './use-position.ts'

const HowToSend = lazy(async () => (await import('./how-to-send.tsx')).HowToSend)

/** This component loads on demand, because the list doesn't need it. */
const ConversationView = lazy(
  async () => (await import('./conversation-view.tsx')).ConversationView,
  <Loading lines={8} />,
)

const channelIcons = { call: Phone, chat: MessageSquare, voicemail: Voicemail }

const Channel = ({ channel }: Pick<Conversation, 'channel'>) => {
  const Icon = channelIcons[channel]
  return <Icon className={styles.channel} role="img" aria-label={sentenceCase(channel)} />
}

/** Shows the unusual properties of a conversation. */
const State = ({ status, reviewStatus }: Conversation) => {
  if (status === 'failed') return <Badge tone="failed">Failed</Badge>
  if (status === 'in_progress') return <Badge tone="accent">In progress</Badge>
  return reviewStatus === 'completed' ? <Badge>Reviewed</Badge> : null
}

const useColumns = (): Column<Conversation>[] => {
  const { nameOf } = useNames('agents')
  const companies = useNames('companies')
  return [
    { key: 'channel', label: '', width: '32px', cell: (row) => <Channel channel={row.channel} /> },
    { key: 'started', label: 'Started', width: '116px', cell: ({ startedAt }) => <Time at={startedAt} /> },
    { key: 'agent', label: 'Agent', width: '1.2fr', cell: ({ agentId }) => nameOf(agentId) },
    {
      key: 'company',
      label: 'Company',
      from: 960 as const,
      cell: ({ companyId }) => companyId && companies.nameOf(companyId),
    },
    { key: 'customer', label: 'Customer', from: 720, cell: ({ customerId }) => customerId },
    {
      key: 'lasted',
      label: 'Duration',
      width: '84px',
      numeric: true,
      cell: ({ durationSeconds }) => durationSeconds !== null && formatDuration(durationSeconds),
    },
    { key: 'ended', label: 'End reason', from: 960, cell: ({ endReason }) => endReason },
    { key: 'state', label: 'Status', width: '116px', from: 480, cell: (row) => <State {...row} /> },
  ]
}

const only = (ids: string[] | undefined): string | undefined => (ids?.length === 1 ? ids[0] : undefined)

/** Returns the part of a filter that exports support. */
const exportOf = (filter: Filter): NonNullable<ExportSearch['config']> => {
  const { monitors, match, period, metadata, agentIds, agentGroupIds, companyIds } = filter
  const { since, until } = period ? boundsOf(period) : filter
  const [agentId, groupId, companyId] = [only(agentIds), only(agentGroupIds), only(companyIds)]
  return {
    ...(monitors && {
      monitors: monitors.map(({ id, result }) => ({ id, ...(result && result !== 'unscored' && { result }) })),
    }),
    ...(match && { match }),
    ...(since && { since }),
    ...(until && { until }),
    ...(metadata && { metadata }),
    ...(agentId && { agentId }),
    ...(groupId && { groupId }),
    ...(companyId && { companyId }),
  }
}

export const Conversations = () => {
  const { filter = {}, view, open, at, turn } = useSearch({ from: '/app/conversations' })
  const navigate = useNavigate({ from: '/conversations' })
  const { entitlements, features } = useMe()
  const mayExport = entitlements.monitors && features.monitorExports
  const list = useList(conversationsOptions(filter))
  const columns = useColumns()
  const onFilter = (next: Filter, nextView?: string) =>
    void navigate({
      search: {
        ...(Object.keys(next).length > 0 && { filter: next }),
        ...(nextView !== undefined && { view: nextView }),
      },
      replace: true,
    })
  const onSelect = (id: string | undefined) =>
    void navigate({
      search: ({ open: _, at: __, turn: ___, ...rest }) => (id === undefined ? rest : { ...rest, open: id }),
      replace: true,
    })
  const onPlace = (place: Position) =>
    void navigate({ search: ({ at: _, turn: __, ...rest }) => ({ ...rest, ...place }), replace: true })
  const onOpen = (id: string) => void navigate({ to: '/conversations/$id', params: { id }, search: {} })
  const { rows } = list
  return (
    <Page
      title="Conversations"
      fixed
      actions={
        mayExport && (
          <ButtonLink to="/exports/new" search={{ config: exportOf(filter) }}>
            Export
          </ButtonLink>
        )
      }
    >
      <FilterBar filter={filter} view={view} onChange={onFilter} />
      <div className={open ? `${split.split} ${split.open}` : split.split}>
        <div className={split.list}>
          {list.error && <FaultNote error={list.error} retry={list.retry} />}
          {list.isPending && <Loading lines={12} />}
          {rows?.length === 0 &&
            (Object.keys(filter).length === 0 ? (
              <HowToSend />
            ) : (
              <Empty title="No conversations match">
                <p>Remove a filter or choose a longer period.</p>
              </Empty>
            ))}
          <NewConversations filter={filter} />
          {rows !== undefined && rows.length > 0 && (
            <LongTable
              label="Conversations"
              columns={columns}
              rows={rows}
              idOf={({ id }) => id}
              more={list.more}
              isFetchingMore={list.isFetchingMore}
              selected={open}
              onSelect={onSelect}
              onOpen={onOpen}
            />
          )}
        </div>
        {open && (
          <aside className={split.panel} aria-label="Selected conversation">
            <div className={split.panelHead}>
              <ButtonLink
                small
                look="quiet"
                to="/conversations/$id"
                params={{ id: open }}
                search={{ ...(at !== undefined && { at }), ...(turn !== undefined && { turn }) }}
              >
                <Maximize2 aria-hidden="true" /> Open full page
              </ButtonLink>
              <IconButton label="Close panel" icon={<X />} onClick={() => onSelect(undefined)} />
            </div>
            <ConversationView
              key={open}
              id={open}
              narrow
              place={{ ...(at !== undefined && { at }), ...(turn !== undefined && { turn }) }}
              onPlace={onPlace}
            />
          </aside>
        )}
      </div>
    </Page>
  )
}
