import type { Deps } from '../../platform/deps.ts'
import { notFound } from '../../platform/errors.ts'
import type { App } from '../../platform/http/http.ts'
import { answers } from '../../platform/http/schemas.ts'
import { findMetadataValues, listMetadataKeys } from './queries.ts'
import { KeyParams, MetadataKeys, MetadataValues, mostSuggested, SuggestionQuery, sampled } from './schema.ts'

const tags = ['Conversations']

const mostFrequent = (what: string): string =>
  `Returns the ${mostSuggested} most frequent ${what}, counted among the ${sampled.toLocaleString('en')} newest conversations.`

export const metadataKeys = (app: App, { database }: Deps): void => {
  const sampleOf = (prefix = '') => ({ prefix, sampled, limit: mostSuggested })

  app.get(
    '/v1/metadata-keys',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'listMetadataKeys',
        summary: 'List metadata keys',
        description: mostFrequent('keys'),
        querystring: SuggestionQuery,
        response: answers({ 200: MetadataKeys }, 400, 401),
      },
    },
    async ({ actor: { org }, query }) => ({
      data: await listMetadataKeys(database.dbOf(org), org, sampleOf(query.prefix)),
    }),
  )

  app.get(
    '/v1/metadata-keys/:key/values',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'listMetadataValues',
        summary: 'List the values of a metadata key',
        description: `${mostFrequent('values')} Returns 404 if none of these conversations has the key.`,
        params: KeyParams,
        querystring: SuggestionQuery,
        response: answers({ 200: MetadataValues }, 400, 401, 404),
      },
    },
    async ({ actor: { org }, params, query }) => {
      const data = await findMetadataValues(database.dbOf(org), org, params.key, sampleOf(query.prefix))
      if (!data) throw notFound()
      return { data }
    },
  )
}
