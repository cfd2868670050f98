import { expect, it } from 'vitest'
import { makeOrganization } from '../../test/make.ts'
import { draft, serverOfTrials } from '../../test/support/evaluations/trials.ts'
import { answer, Refusal } from '../../test/support/monitors/model-server.ts'

const { server, call, testDraft, makeCall, answerBy } = await serverOfTrials()

type Check = { name: string; status: string; message: string; details: object[] }

const readJudges = async (key: string): Promise<Check | undefined> =>
  (await call('GET', '/v1/health', { key })).body.checks.find(({ name }: Check) => name === 'judges')

/** Counts are stored a moment after the request. */
const stored = { timeout: 10_000 }

it('shows what a model endpoint responds, and that it works again', async () => {
  const { key } = await makeOrganization(server)
  expect(await readJudges(key)).toMatchObject({
    status: 'ok',
    message: 'There were no requests to models in the last day.',
  })
  await makeCall(key, 'Gladly.')
  answerBy(() => new Refusal(404, {}, { error: { code: 'model_not_found' } }))
  await testDraft(key, draft)
  await expect
    .poll(() => readJudges(key), stored)
    .toMatchObject({
      status: 'failing',
      message:
        'The model endpoint is failing, so results are missing: the endpoint returned status 404 (model_not_found).',
      details: [{ requests: 1, failed: 1, reason: 'the endpoint returned status 404 (model_not_found)' }],
    })
  answerBy(() => answer())
  await testDraft(key, draft)
  await expect
    .poll(() => readJudges(key), stored)
    .toMatchObject({
      status: 'degraded',
      message: '1 of 2 requests to models failed in the last day, 95% within 1 second.',
    })
})

it('shows the response of the endpoint within seconds to a person who tests a judge', async () => {
  const { key } = await makeOrganization(server)
  await makeCall(key, 'Gladly.')
  answerBy(() => new Refusal(503))
  const startedAt = performance.now()
  const { body } = await testDraft(key, draft)
  expect(performance.now() - startedAt).toBeLessThan(8_000)
  expect(body.data).toMatchObject([{ status: 'failed', reasoning: 'the endpoint returned status 503' }])
})
