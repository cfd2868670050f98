// Loads the categories and fields of monitors for phrases. This file is only loaded when a phrase needs them.

import { namesOptions } from '../api/names.ts'
import { queryClient } from '../api/queries.ts'
import { categoriesOf, fieldsOf } from '../monitors/outputs.ts'
import type { Monitor } from '../monitors/queries.ts'
import type { Vocabulary } from './say-phrase.ts'

/** Loads the outputs of all monitors that define any. The monitors' names are read from the same responses. */
export const loadOutputs = async (): Promise<Pick<Vocabulary, 'categories' | 'fields'>> => {
  const monitors = (await queryClient.fetchQuery(namesOptions('monitors'))) as Monitor[]
  return {
    categories: monitors.flatMap((monitor) => {
      const options = categoriesOf(monitor)
      return options.length > 0 ? { monitorId: monitor.id, options } : []
    }),
    fields: monitors.flatMap((monitor) => fieldsOf(monitor).map((field) => ({ monitorId: monitor.id, ...field }))),
  }
}
