import { queryOptions } from '@tanstack/react-query'
import { answer, api } from '../api/client.ts'
import { queryClient } from '../api/queries.ts'
import type { Schemas } from '../api/schema.d.ts'
import { ownZone } from '../lib/zones.ts'

export type TopicFigures = Schemas['TopicFigures']
export type TopicDetail = Schemas['TopicDetail']
export type TopicList = Schemas['TopicList']
export type TopicExample = Schemas['TopicConversation']

/** The number of embedded conversations that the first build needs. */
export const fewestConversations = 200

type Listing = { sort: 'surprise' | 'size'; hidden: boolean }

export const topicsOptions = ({ sort, hidden }: Listing) =>
  queryOptions({
    queryKey: ['topics', 'list', sort, hidden],
    queryFn: ({ signal }) =>
      answer(api.GET('/v1/topics', { params: { query: { sort, hidden, timezone: ownZone() } }, signal })),
    staleTime: 60_000,
  })

export const uncoveredOptions = queryOptions({
  queryKey: ['topics', 'uncovered'],
  queryFn: ({ signal }) =>
    answer(api.GET('/v1/topics/uncovered', { params: { query: { timezone: ownZone() } }, signal })),
  staleTime: 60_000,
})

export const topicOptions = (id: string) =>
  queryOptions({
    queryKey: ['topics', id],
    queryFn: ({ signal }) => answer(api.GET('/v1/topics/{id}', { params: { path: { id } }, signal })),
  })

const examplesAtOnce = 10

/** Requests the most typical conversations of a topic, with what happens in them. */
export const examplesOptions = (id: string) =>
  queryOptions({
    queryKey: ['topics', id, 'examples'],
    queryFn: async ({ signal }) => {
      const params = { path: { id }, query: { limit: examplesAtOnce, facets: true } }
      return (await answer(api.GET('/v1/topics/{id}/conversations', { params, signal }))).data
    },
  })

/**
 * Drafts both kinds of monitors, because the form can switch between them. A topic without terms can't become a rule.
 */
export const draftOptions = (id: string) =>
  queryOptions({
    queryKey: ['topics', id, 'draft'],
    queryFn: async ({ signal }) => {
      const draft = (kind: 'judge' | 'rule') =>
        answer(api.POST('/v1/topics/{id}/monitor', { params: { path: { id } }, body: { kind }, signal }))
      const [judge, rule] = await Promise.all([draft('judge'), draft('rule').catch(() => undefined)])
      return { ...judge, definition: { ...rule?.definition, ...judge.definition } as Record<string, unknown> }
    },
    // A refetched draft would replace what the person has typed.
    staleTime: Number.POSITIVE_INFINITY,
  })

/** Refetches topics after a change. */
export const refreshTopics = () => queryClient.invalidateQueries({ queryKey: ['topics'] })

export const nameOf = ({ label }: { label: string }): string => label || 'Topic without a name'

/** Returns the filter for a topic's conversations in the period of a list. */
export const filterOf = ({ id }: { id: string }, { since, until }: Pick<TopicList, 'since' | 'until'>) => ({
  topicIds: [id],
  since,
  until,
})
