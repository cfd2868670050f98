import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { answer, api } from '../api/client.ts'
import { useMay, useMe } from '../api/session.ts'
import { formatCount, plural } from '../lib/format.ts'
import { Badge } from '../ui/badge.tsx'
import { ButtonLink } from '../ui/button.tsx'
import { Check, Choice } from '../ui/controls.tsx'
import { Estimate } from '../ui/estimate.tsx'
import { Page } from '../ui/page.tsx'
import { Progress } from '../ui/progress.tsx'
import { Await, Empty } from '../ui/states.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { Time } from '../ui/time.tsx'
import { Change, Covering, Share, Trend } from './figures.tsx'
import type { TopicsSearch } from './search.ts'
import {
  fewestConversations,
  filterOf,
  nameOf,
  type TopicFigures,
  type TopicList,
  topicsOptions,
  uncoveredOptions,
} from './topic-queries.ts'
import styles from './topics.module.css'

const orders = [
  { value: 'surprise', label: 'Largest change' },
  { value: 'size', label: 'Most conversations' },
]

type Listed = Pick<TopicList, 'since' | 'until' | 'conversations'>

const Name = ({ topic }: { topic: TopicFigures }) => (
  <div className={styles.name}>
    <span>
      <Link to="/topics/$id" params={{ id: topic.id }}>
        {nameOf(topic)}
      </Link>{' '}
      {topic.isGroup && <Badge>Group</Badge>} {topic.hidden && <Badge>Hidden</Badge>}
    </span>
    {topic.hasOwnLabel && topic.terms.length > 0 && <span className={styles.soft}>{topic.terms.join(', ')}</span>}
  </div>
)

const columnsOf = (list: Listed): Column<TopicFigures>[] => [
  { key: 'name', label: 'Topic', cell: (topic) => <Name topic={topic} /> },
  {
    key: 'conversations',
    label: 'Conversations',
    numeric: true,
    cell: (topic) => (
      <Link
        to="/conversations"
        search={{ filter: filterOf(topic, list) }}
        aria-label={`${nameOf(topic)}: ${plural(topic.conversations, 'conversation')}`}
      >
        {formatCount(topic.conversations)}
      </Link>
    ),
  },
  {
    key: 'share',
    label: 'Share · 95% interval · n',
    from: 480,
    cell: (topic) => <Share topic={topic} of={list.conversations} />,
  },
  { key: 'trend', label: 'By day', from: 720, cell: (topic) => <Trend topic={topic} /> },
  { key: 'change', label: 'Change', from: 480, cell: (topic) => <Change topic={topic} /> },
]

const covering: Column<TopicFigures> = {
  key: 'monitors',
  label: 'Covered by',
  from: 720,
  cell: (topic) => <Covering topic={topic} />,
}

const making: Column<TopicFigures> = {
  key: 'make',
  label: <span className={styles.hiddenLabel}>Actions</span>,
  from: 480,
  cell: (topic) => (
    <ButtonLink small to="/monitors/new" search={{ kind: 'judge', topic: topic.id }}>
      Make it a monitor
    </ButtonLink>
  ),
}

/** Explains what is missing before topics are built for the first time. */
const NotBuilt = ({ missing }: { missing: number }) => {
  const { data } = useQuery({
    queryKey: ['embeddings'],
    queryFn: ({ signal }) => answer(api.GET('/v1/embeddings', { signal })),
  })
  if (missing === 0) {
    return (
      <Empty title="Topics are being built">
        <p>Earshot builds them within an hour, and then once a day.</p>
      </Empty>
    )
  }
  return (
    <Empty title={`${plural(missing, 'more conversation')} needed`}>
      <p>
        Topics are what customers ask for first. Earshot finds them once it has read {fewestConversations} conversations
        of the last 90 days in the same language.
      </p>
      <Progress label="Conversations" done={fewestConversations - missing} total={fewestConversations} />
      {data && data.waiting > 0 && <p>{plural(data.waiting, 'conversation')} waiting to be read.</p>}
    </Empty>
  )
}

const All = ({ search, onChange }: { search: TopicsSearch; onChange: (search: TopicsSearch) => void }) => {
  const { sort = 'surprise', hidden = false } = search
  const query = useQuery({ ...topicsOptions({ sort, hidden }), placeholderData: (before) => before })
  return (
    <Await query={query} lines={10}>
      {(list) =>
        list.builtAt === null ? (
          <NotBuilt missing={list.missing} />
        ) : (
          <>
            <div className={styles.controls}>
              <Choice
                label="Sort by"
                hideLabel
                value={sort}
                options={orders}
                onChange={(next) => {
                  const { sort: _, ...rest } = search
                  onChange(next === 'size' ? { ...rest, sort: next } : rest)
                }}
              />
              <Check
                label="Show hidden"
                checked={hidden}
                onChange={({ target }) => {
                  const { hidden: _, ...rest } = search
                  onChange(target.checked ? { ...rest, hidden: true } : rest)
                }}
              />
            </div>
            {list.data.length === 0 ? (
              <Empty title="No topics">
                <p>The conversations have little in common, or all topics are hidden.</p>
              </Empty>
            ) : (
              <Table label="Topics" columns={[...columnsOf(list), covering]} rows={list.data} idOf={({ id }) => id} />
            )}
            <p className={styles.soft}>
              {plural(list.outliers.conversations, 'conversation')} of {formatCount(list.conversations)} in no topic.
              Built <Time at={list.builtAt} />.
            </p>
          </>
        )
      }
    </Await>
  )
}

const Uncovered = () => {
  const query = useQuery(uncoveredOptions)
  const { entitlements } = useMe()
  const mayMake = useMay('member') && entitlements.monitors
  return (
    <Await query={query} lines={10}>
      {(list) => {
        if (list.builtAt === null) return <NotBuilt missing={list.missing} />
        const { share } = list.uncovered
        if (list.data.length === 0) {
          return (
            <Empty title="All topics are covered">
              <p>For each topic, a monitor is affected in at least half of its most typical conversations.</p>
            </Empty>
          )
        }
        return (
          <>
            <p className={`${styles.lead} ${styles.wraps}`}>
              Conversations in topics that no monitor covers:{' '}
              <Estimate rate={share?.value ?? null} low={share?.low} high={share?.high} n={list.conversations} />
            </p>
            <Table
              label="Topics without a monitor"
              columns={[...columnsOf(list), ...(mayMake ? [making] : [])]}
              rows={list.data}
              idOf={({ id }) => id}
            />
          </>
        )
      }}
    </Await>
  )
}

export const Topics = () => {
  const search = useSearch({ from: '/app/topics' })
  const navigate = useNavigate({ from: '/topics' })
  const go = (next: TopicsSearch) => void navigate({ search: next, replace: true })
  return (
    <Page title="Topics" context="What customers ask for first, last 30 days">
      <Tabs
        label="Topics"
        value={search.tab ?? 'all'}
        onChange={(tab) => {
          const { tab: _, ...rest } = search
          go(tab === 'uncovered' ? { ...rest, tab } : rest)
        }}
        tabs={[
          { value: 'all', label: 'All topics', content: <All search={search} onChange={go} /> },
          { value: 'uncovered', label: 'What are we not measuring?', content: <Uncovered /> },
        ]}
      />
    </Page>
  )
}
