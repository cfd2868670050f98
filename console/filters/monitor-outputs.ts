// Loads the categories and fields of monitors, and the names of topics, for phrases. This file is only loaded when a phrase needs them.

import { answer, api } from '../api/client.ts'
import { namesOptions } from '../api/names.ts'
import { queryClient } from '../api/queries.ts'
import { categoriesOf, fieldsOf } from '../monitors/outputs.ts'
import type { Monitor } from '../monitors/queries.ts'
import type { Vocabulary } from './say-phrase.ts'

/** A short period is enough, because only the names matter. */
const dayMs = 86_400_000

const loadTopics = async (): Promise<Vocabulary['topics']> => {
  const query = { hidden: true, sort: 'size', since: new Date(Date.now() - dayMs).toISOString() } as const
  const { data } = await answer(api.GET('/v1/topics', { params: { query } }))
  return data.filter(({ label }) => label !== '').map(({ id, label }) => ({ value: id, label }))
}

/** Loads the outputs of all monitors that define any. The monitors' names are read from the same responses. */
export const loadOutputs = async (): Promise<Pick<Vocabulary, 'categories' | 'fields' | 'topics'>> => {
  // Phrases about monitors still work if topics can't be loaded.
  const topics = loadTopics().catch(() => [])
  const monitors = (await queryClient.fetchQuery(namesOptions('monitors'))) as Monitor[]
  return {
    topics: await topics,
    categories: monitors.flatMap((monitor) => {
      const options = categoriesOf(monitor)
      return options.length > 0 ? { monitorId: monitor.id, options } : []
    }),
    fields: monitors.flatMap((monitor) => fieldsOf(monitor).map((field) => ({ monitorId: monitor.id, ...field }))),
  }
}
