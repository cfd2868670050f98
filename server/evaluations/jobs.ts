import Type from 'typebox'
import type { Deps } from '../deps.ts'
import { defineJob } from '../platform/jobs/define-job.ts'

/** How many conversations one job holds. */
export const evaluationBatch = 100

/**
 * Where conversations that are completed, or whose transcript changed, come to be judged. It is enqueued in the
 * transaction that stores them. Without monitors there is nothing to judge.
 */
export const evaluateConversations = defineJob({
  name: 'conversation.evaluate',
  payload: Type.Object({
    organizationId: Type.String(),
    conversationIds: Type.Array(Type.String(), { maxItems: evaluationBatch }),
  }),
  run: (_deps: Deps, _payload, attempt) => attempt.finish(async () => {}),
})
