import type { Deps } from '../platform/deps.ts'
import type { App } from '../platform/http/http.ts'
import { answers, NoQuery } from '../platform/http/schemas.ts'
import { findCurrentModel } from './model-numbers.ts'
import { countEmbedded, countWaiting, findProgress } from './queries.ts'
import { EmbeddingProgress, mostEmbedded, mostWaiting } from './schema.ts'

export const embeddings = (app: App, { database, db, config }: Deps): void => {
  app.get(
    '/v1/embeddings',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags: ['Conversations'],
        operationId: 'getEmbeddingProgress',
        summary: 'Get the progress of embeddings',
        description:
          'Shows how many conversations can be found by meaning. New conversations are embedded after they are stored, and ' +
          'older ones in the background, newest first. To choose a model, set the organization’s `embeddingModel`.',
        querystring: NoQuery,
        response: answers({ 200: EmbeddingProgress }, 401),
      },
    },
    async ({ actor: { org } }) => {
      const { name, number } = await findCurrentModel(db, org)
      const near = database.dbOf(org)
      const stored = await findProgress(near, org)
      const start = { model: number, startedAt: null, conversationId: null, isDone: false }
      const progress = stored?.model === number ? stored : start
      return {
        enabled: config.embeddings,
        model: name,
        embedded: await countEmbedded(near, org, number, mostEmbedded),
        waiting: Math.min(mostWaiting, await countWaiting(near, org, progress, mostWaiting)),
      }
    },
  )
}
