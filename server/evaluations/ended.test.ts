import { expect, it } from 'vitest'
import { makeConversation, makeOrganization } from '../../test/make.ts'
import { serverWithModel, turns } from '../../test/support/evaluations/evaluations.ts'
import { answer } from '../../test/support/monitors/model-server.ts'
import { startWorker } from '../worker.ts'

const { server, answerBy, makeJudge, asked } = await serverWithModel({
  EARSHOT_JUDGE_LIMITS: 'attempts=1,concurrency=1,contextTokens=10000',
})

it('a service that stops during a judgment stores the cost of the responses it got', async () => {
  const { key } = await makeOrganization(server)
  const judge = await makeJudge(key)
  // The transcript is long enough to need several windows.
  const transcript = Array.from({ length: 400 }, () => turns).flat()
  const { id } = await makeConversation(server, key, { transcript })
  const pending = Promise.withResolvers<void>()
  answerBy((_asked, number) => {
    if (number === 1) return answer()
    pending.resolve()
    return new Promise(() => {})
  })
  const worker = await startWorker(server.deps, { alone: true })
  await pending.promise
  await worker.stop({ timeoutMs: 0 })
  expect(asked).toHaveLength(2)
  const spending = async () => (await server.call('GET', '/v1/organization', { key })).body.judgeSpending
  await expect.poll(spending).toMatchObject({ judgements: 1, inputTokens: 1_000, outputTokens: 100, cost: 2 })
  const { body } = await server.call('GET', `/v1/conversations/${id}/results`, { key })
  expect(body.data.filter(({ monitorId }: { monitorId: string }) => monitorId === judge.id)).toEqual([])
})
