import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { MoreHorizontal } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { answer, api } from '../api/client.ts'
import { isNotFound } from '../api/fault.ts'
import { useMay, useMe } from '../api/session.ts'
import { NotFound } from '../layout/not-found.tsx'
import { formatPercent, plural } from '../lib/format.ts'
import { wilson } from '../lib/wilson.ts'
import { announce } from '../ui/announce.tsx'
import { Badge } from '../ui/badge.tsx'
import { Button, ButtonLink, IconButton } from '../ui/button.tsx'
import { BandLine } from '../ui/charts/band-line.tsx'
import { lazy } from '../ui/lazy.tsx'
import { Menu } from '../ui/menu.tsx'
import { Facts, Page, Section } from '../ui/page.tsx'
import { Await, FaultNote } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import { Change, Covering, Share } from './figures.tsx'
import {
  examplesOptions,
  filterOf,
  nameOf,
  refreshTopics,
  type TopicDetail,
  type TopicExample,
  type TopicFigures,
  type TopicList,
  topicOptions,
  topicsOptions,
} from './topic-queries.ts'
import styles from './topics.module.css'

const RenameTopic = lazy(async () => (await import('./rename-topic.tsx')).RenameTopic)
const MergeTopic = lazy(async () => (await import('./merge-topic.tsx')).MergeTopic)

/** Requests the figures of all topics. Often, the list has already loaded them. */
const useFigures = () => useQuery(topicsOptions({ sort: 'size', hidden: true }))

const Course = ({ topic, list }: { topic: TopicFigures; list: TopicList }) => {
  const points = list.days.map((start, at) => {
    const [count, all] = [topic.trend[at] ?? 0, list.conversationsByDay[at] ?? 0]
    const end = list.days[at + 1] ?? list.until
    return {
      start,
      end,
      value: all === 0 ? null : count / all,
      ...wilson(count, all),
      n: all,
      link: { to: '/conversations', search: { filter: filterOf(topic, { since: start, until: end }) } } as const,
    }
  })
  return (
    <Section title="Course">
      <BandLine title="Share of all conversations by day" valueName="Share" points={points} tone="accent" />
    </Section>
  )
}

const Figures = ({ topic }: { topic: TopicDetail }) => {
  const query = useFigures()
  if (topic.endedAt !== null || topic.mergedIntoId !== null) return null
  return (
    <Await query={query}>
      {(list) => {
        const figures = list.data.find(({ id }) => id === topic.id)
        if (!figures) return null
        const group = list.data.find(({ id }) => id === topic.groupId)
        return (
          <>
            <Section title="Last 30 days">
              <Facts
                facts={[
                  [
                    'Share',
                    <span key="share" className={styles.wraps}>
                      <Share topic={figures} of={list.conversations} />
                    </span>,
                  ],
                  ['Previous 30 days', figures.previousShare === null ? null : formatPercent(figures.previousShare)],
                  ['Change', <Change key="change" topic={figures} />],
                  ['Covered by', <Covering key="monitors" topic={figures} />],
                  ['Terms', topic.terms.length > 0 ? topic.terms.join(', ') : null],
                  ...(topic.isGroup
                    ? []
                    : ([
                        [
                          'Group',
                          group && (
                            <Link to="/topics/$id" params={{ id: group.id }}>
                              {nameOf(group)}
                            </Link>
                          ),
                        ],
                      ] satisfies [string, ReactNode][])),
                ]}
              />
            </Section>
            <Course topic={figures} list={list} />
            {topic.isGroup && <Members id={topic.id} list={list} />}
          </>
        )
      }}
    </Await>
  )
}

const Members = ({ id, list }: { id: string; list: TopicList }) => (
  <Section title="Topics">
    <ul className={styles.examples}>
      {list.data
        .filter(({ groupId }) => groupId === id)
        .map((topic) => (
          <li key={topic.id}>
            <Link to="/topics/$id" params={{ id: topic.id }}>
              {nameOf(topic)}
            </Link>
            <span className={styles.wraps}>
              <Share topic={topic} of={list.conversations} />
            </span>
          </li>
        ))}
    </ul>
  </Section>
)

const endingNames: Record<string, string> = {
  transferred: 'Transferred to a person',
  gave_up: 'The customer complains or gives up',
  waiting: 'Ends with a question',
  thanked: 'The customer says thanks',
}

/** Describes what happens in a conversation beyond the first request. */
const happeningsOf = ({ facets }: TopicExample): string[] => {
  if (!facets) return []
  const { request, unanswered, complaints, toolFailures, ending } = facets
  const open = unanswered.find(({ turn }) => turn !== request?.turn)
  const complaint = complaints.find(({ turn }) => turn !== request?.turn)
  return [
    open && `Unanswered: “${open.text}”`,
    complaint && `Complaint: “${complaint.text}”`,
    toolFailures.length > 0 && plural(toolFailures.length, 'failed tool call'),
    ending !== null && endingNames[ending],
  ].filter((words): words is string => Boolean(words))
}

const Example = ({ example }: { example: TopicExample }) => {
  const { conversationId, startedAt, facets } = example
  return (
    <li>
      <Link to="/conversations/$id" params={{ id: conversationId }} search={{}}>
        {facets?.request?.text ?? `Conversation ${conversationId.slice(0, 8)}…`}
      </Link>
      {happeningsOf(example).map((words) => (
        <span key={words}>{words}</span>
      ))}
      <span className={styles.soft}>
        <Time at={startedAt} />
      </span>
    </li>
  )
}

const Examples = ({ id }: { id: string }) => (
  <Section title="Typical conversations">
    <Await query={useQuery(examplesOptions(id))} lines={6}>
      {(examples) =>
        examples.length === 0 ? (
          <p className={styles.soft}>No conversations are about this topic any longer.</p>
        ) : (
          <ul className={styles.examples}>
            {examples.map((example) => (
              <Example key={example.conversationId} example={example} />
            ))}
          </ul>
        )
      }
    </Await>
  </Section>
)

/** Lists the topics that people merged into this one. */
const Merged = ({ topic: { merged } }: { topic: TopicDetail }) => {
  const mayWrite = useMay('member')
  const separate = useSeparate()
  if (merged.length === 0) return null
  return (
    <Section title="Merged topics">
      {separate.error && <FaultNote error={separate.error} />}
      <ul className={styles.examples}>
        {merged.map((part) => (
          <li key={part.id}>
            <Link to="/topics/$id" params={{ id: part.id }}>
              {nameOf(part)}
            </Link>
            {mayWrite && (
              <div>
                <Button
                  small
                  aria-label={`Separate ${nameOf(part)}`}
                  busy={separate.isPending && separate.variables === part.id}
                  onClick={() => separate.mutate(part.id)}
                >
                  Separate
                </Button>
              </div>
            )}
          </li>
        ))}
      </ul>
    </Section>
  )
}

const useSeparate = () =>
  useMutation({
    mutationFn: (id: string) =>
      answer(api.POST('/v1/topics/{id}/merge', { params: { path: { id } }, body: { into: null } })),
    onSuccess: async (topic) => {
      await refreshTopics()
      announce(`“${nameOf(topic)}” is a topic of its own again`)
    },
  })

const kinds: Record<TopicDetail['history'][number]['kind'], string> = {
  created: 'Found for the first time',
  split: 'Split into several topics',
  merged: 'Combined with other topics by a build',
  ended: 'No longer found',
}

const History = ({ topic: { id, history, createdAt } }: { topic: TopicDetail }) => {
  const created = { kind: 'created' as const, topicIds: [], at: createdAt }
  return (
    <Section title="History">
      <ul className={styles.history}>
        {(history.length > 0 ? history : [created]).map(({ kind, topicIds, at }) => (
          <li key={`${kind} ${at}`}>
            {kinds[kind]}
            {topicIds
              .filter((other) => other !== id)
              .map((other, index) => (
                <span key={other}>
                  {index === 0 ? ': ' : ', '}
                  <Link to="/topics/$id" params={{ id: other }}>
                    {other.slice(0, 8)}…
                  </Link>
                </span>
              ))}
            <span className={styles.soft}>
              {' · '}
              <Time at={at} />
            </span>
          </li>
        ))}
      </ul>
    </Section>
  )
}

const Standing = ({ topic: { endedAt, mergedIntoId } }: { topic: TopicDetail }) => {
  if (endedAt === null && mergedIntoId === null) return null
  return (
    <p className={styles.merged}>
      {endedAt === null ? (
        'This topic is merged into another one.'
      ) : (
        <>
          Builds no longer find this topic since <Time at={endedAt} />.
        </>
      )}{' '}
      {mergedIntoId && (
        <Link to="/topics/$id" params={{ id: mergedIntoId }}>
          View the other topic
        </Link>
      )}
    </p>
  )
}

const Actions = ({ topic }: { topic: TopicDetail }) => {
  const { id, hidden, isGroup, endedAt, mergedIntoId } = topic
  const [asking, setAsking] = useState<'rename' | 'merge'>()
  const mayWrite = useMay('member') && endedAt === null
  const { entitlements } = useMe()
  const hide = useMutation({
    mutationFn: () => answer(api.PATCH('/v1/topics/{id}', { params: { path: { id } }, body: { hidden: !hidden } })),
    onSuccess: async () => {
      await refreshTopics()
      announce(hidden ? 'Topic is listed again' : 'Topic hidden')
    },
  })
  const separate = useSeparate()
  const close = () => setAsking(undefined)
  const fault = hide.error ?? separate.error
  return (
    <>
      {fault && <FaultNote error={fault} />}
      {mayWrite && (
        <Menu
          trigger={<IconButton label="More actions" icon={<MoreHorizontal />} />}
          entries={[
            { label: 'Rename…', onSelect: () => setAsking('rename') },
            { label: hidden ? 'Show in lists' : 'Hide', onSelect: () => hide.mutate() },
            ...(isGroup || mergedIntoId !== null ? [] : [{ label: 'Merge…', onSelect: () => setAsking('merge') }]),
            ...(mergedIntoId === null ? [] : [{ label: 'Separate', onSelect: () => separate.mutate(id) }]),
          ]}
        />
      )}
      <ButtonLink to="/conversations" search={{ filter: { topicIds: [id] } }}>
        View conversations
      </ButtonLink>
      {mayWrite && entitlements.monitors && (
        <ButtonLink look="primary" to="/monitors/new" search={{ kind: 'judge', topic: id }}>
          Make it a monitor
        </ButtonLink>
      )}
      {asking === 'rename' && <RenameTopic topic={topic} onClose={close} />}
      {asking === 'merge' && <MergeTopic topic={topic} onClose={close} />}
    </>
  )
}

export const Topic = () => {
  const { id } = useParams({ from: '/app/topics/$id' })
  const query = useQuery(topicOptions(id))
  const { data: topic } = query
  if (isNotFound(query.error)) return <NotFound />
  return (
    <Page
      title={topic ? nameOf(topic) : 'Topic'}
      above={<Link to="/topics">Topics</Link>}
      context={
        topic && (topic.isGroup || topic.hidden) ? (
          <>
            {topic.isGroup && <Badge>Group</Badge>} {topic.hidden && <Badge>Hidden</Badge>}
          </>
        ) : undefined
      }
      actions={topic && <Actions topic={topic} />}
    >
      <Await query={query} lines={10}>
        {(topic) => (
          <>
            <Standing topic={topic} />
            <Figures topic={topic} />
            <Examples id={topic.id} />
            <Merged topic={topic} />
            <History topic={topic} />
          </>
        )}
      </Await>
    </Page>
  )
}
