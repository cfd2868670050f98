// Loads the categories of monitors for phrases. This file is only loaded when a phrase needs them.

import { namesOptions } from '../api/names.ts'
import { queryClient } from '../api/queries.ts'
import { categoriesOf } from '../monitors/outputs.ts'
import type { Monitor } from '../monitors/queries.ts'
import type { Vocabulary } from './say-phrase.ts'

/** Loads the categories of all monitors that define them. Their names are read from the same responses. */
export const loadCategories = async (): Promise<Vocabulary['categories']> => {
  const monitors = (await queryClient.fetchQuery(namesOptions('monitors'))) as Monitor[]
  return monitors.flatMap((monitor) => {
    const options = categoriesOf(monitor)
    return options.length > 0 ? { monitorId: monitor.id, options } : []
  })
}
