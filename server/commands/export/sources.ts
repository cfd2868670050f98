// Defines the exports that the command can create, and how it creates, finds, and reads them.

import { randomUUID } from 'node:crypto'
import type { Earshot, Schemas } from '../../../client/src/earshot.ts'
import { EarshotError } from '../../../client/src/errors.ts'
import { findNamed } from '../connect.ts'
import { makeConfiguration } from './configuration.ts'
import type { Options } from './options.ts'

export type Manifest = Schemas['MonitorExport'] | Schemas['ConversationExport']

type Asking = { earshot: Earshot; signal: AbortSignal }

export type Source = {
  read: (id: string) => Promise<Manifest>
  /** Creates the export unless it has too many rows. */
  create: () => Promise<{ count: number; manifest: Manifest | undefined }>
}

/** The default columns for saved views that don't specify any. */
const usualColumns = [
  'channel',
  'startedAt',
  'agentId',
  'affected',
  'customerId',
  'companyId',
  'durationSeconds',
  'endReason',
  'status',
]

const columnsFor = async ({ earshot, signal }: Asking) => {
  const { entitlements } = await earshot.me.get({ signal })
  return usualColumns.filter((key) => key !== 'affected' || entitlements.monitors).map((key) => ({ key }))
}

/** Returns the filter with the given times instead of its own. */
const filterIn = (filter: Schemas['Filter'], times: NonNullable<Options['view']>['period']): Schemas['Filter'] => {
  if (!times) return filter
  const { since: _, until: __, period: ___, ...rest } = filter
  return { ...rest, ...times }
}

const configurationOf = async (asking: Asking, { view, format, asked }: Options) => {
  const { savedViews } = asking.earshot
  const { filter, columns, sort } = await findNamed(
    savedViews.list({}, { signal: asking.signal }),
    view?.name ?? '',
    'saved view',
  )
  return {
    filter: filterIn(filter, view?.period),
    columns: columns ?? (await columnsFor(asking)),
    ...(sort && { sort }),
    format,
    timezone: asked.timezone,
  }
}

const ofMonitors = ({ earshot, signal }: Asking, options: Options): Source => ({
  read: (id) => earshot.exports.get(id, { signal }),
  create: async () => {
    const config = await makeConfiguration(earshot, options, signal)
    const { count, exceedsLimit } = await earshot.exports.preview({ config }, { signal })
    if (exceedsLimit) return { count, manifest: undefined }
    return { count, manifest: await earshot.exports.create({ operationId: randomUUID(), config }, { signal }) }
  },
})

const ofConversations = ({ earshot, signal }: Asking, options: Options): Source => {
  const { conversationExports } = earshot
  return {
    read: (id) => conversationExports.get(id, { signal }),
    create: async () => {
      const config = await configurationOf({ earshot, signal }, options)
      const { count, exceedsLimit } = await conversationExports.preview({ config }, { signal })
      if (exceedsLimit) return { count, manifest: undefined }
      return { count, manifest: await conversationExports.create({ operationId: randomUUID(), config }, { signal }) }
    },
  }
}

/** Returns the source that the options select, or the source of the export with the given ID. */
export const chooseSource = async (asking: Asking, options: Options): Promise<Source> => {
  const [monitors, conversations] = [ofMonitors(asking, options), ofConversations(asking, options)]
  if (options.id === undefined) return options.view === undefined ? monitors : conversations
  return monitors.read(options.id).then(
    () => monitors,
    (error: unknown) => {
      if (error instanceof EarshotError && error.status === 404) return conversations
      throw error
    },
  )
}
