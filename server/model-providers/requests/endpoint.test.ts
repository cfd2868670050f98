import { describe, expect, it } from 'vitest'
import {
  answer,
  apiKey,
  Cut,
  makeJudge,
  makeTurns,
  openInstanceJudge,
  polite,
  Raw,
  Refusal,
  rudeness,
  serveModel,
} from '../../../test/support/monitors/model-server.ts'
import { readRetryAfter } from '../../platform/outbound/retry-after.ts'

const turns = makeTurns('Hello', 'I have a secret to tell.')

describe('requests', () => {
  it('have the format of an OpenAI-compatible endpoint', async () => {
    const { judgeOne, asked } = await makeJudge(() => answer({ score: 1 }))
    await judgeOne({ ...rudeness, model: 'model-2' }, turns)
    expect(asked[0]).toMatchObject({
      path: '/v1/chat/completions',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: {
        model: 'model-2',
        messages: [{ role: 'system' }, { role: 'user' }],
        response_format: {
          type: 'json_schema',
          json_schema: {
            name: 'judgment',
            strict: true,
            schema: { additionalProperties: false, required: ['evidence', 'reasoning', 'score', 'result'] },
          },
        },
      },
    })
    expect(asked[0]?.body.messages[0]?.content).toContain(rudeness.criteria)
    expect(asked[0]?.body.messages[0]?.content).toContain('from 0 to 10; at least 7 means affected')
  })

  it('keep the query of an endpoint, and omit a missing key', async () => {
    const model = await serveModel(() => answer())
    const judge = openInstanceJudge({
      EARSHOT_JUDGE_BASE_URL: `${model.url}/base?version=2`,
      EARSHOT_JUDGE_MODEL: 'model-1',
    })
    expect(await judge.evaluate({ definitions: [polite], turns })).toMatchObject([{ status: 'scored' }])
    expect(model.asked[0]?.path).toBe('/base/chat/completions?version=2')
    expect(model.asked[0]?.headers.authorization).toBeUndefined()
    await judge.close()
  })

  it.each(['', '/v1'])('have the format of Anthropic, below %j', async (path) => {
    const model = await serveModel(() => ({
      content: [
        { type: 'thinking', thinking: 'Well.' },
        { type: 'text', text: JSON.stringify(answer()) },
      ],
      stop_reason: 'end_turn',
      usage: { input_tokens: 10, cache_read_input_tokens: 900, cache_creation_input_tokens: null, output_tokens: 50 },
    }))
    const env = { EARSHOT_JUDGE_PROVIDER: 'anthropic', EARSHOT_JUDGE_API_KEY: apiKey, EARSHOT_JUDGE_MODEL: 'claude-x' }
    const judge = openInstanceJudge({ ...env, EARSHOT_JUDGE_BASE_URL: `${model.url}${path}` })
    expect(await judge.evaluate({ definitions: [polite], turns })).toMatchObject([
      { result: 'not_affected', evaluator: 'anthropic:claude-x', tokens: { input: 910, output: 50 } },
    ])
    expect(model.asked[0]).toMatchObject({
      path: '/v1/messages',
      headers: { 'x-api-key': apiKey, 'anthropic-version': '2023-06-01' },
      body: {
        model: 'claude-x',
        messages: [{ role: 'user' }],
        output_config: { format: { type: 'json_schema', schema: { additionalProperties: false } } },
      },
    })
    expect(model.asked[0]?.body.system).toMatchObject([
      { type: 'text', text: expect.stringContaining(polite.criteria), cache_control: { type: 'ephemeral' } },
    ])
    await judge.close()
  })

  it.each([
    ['max_tokens', 'failed', /token limit/],
    ['refusal', 'unscored', /refused/],
  ])('to Anthropic that end with %s return no result', async (stop_reason, status, reason) => {
    const { judgeOne } = await makeJudge(() => ({ content: [{ type: 'text', text: '{' }], stop_reason }), {
      EARSHOT_JUDGE_PROVIDER: 'anthropic',
    })
    const result = await judgeOne(polite, turns)
    expect(result.status).toBe(status)
    expect(result.reason).toMatch(reason)
  })
})

describe('an endpoint that fails', () => {
  it.each([429, 500, 502, 503, 529, 408])('with %i once is retried', async (status) => {
    const { judgeOne, waits } = await makeJudge((_, number) => (number === 1 ? new Refusal(status) : answer()))
    expect(await judgeOne(polite, turns)).toMatchObject({ result: 'not_affected' })
    expect(waits).toEqual([1_000])
  })

  it('each time fails for now, after growing waits', async () => {
    const { judgeOne, asked, waits } = await makeJudge(() => new Refusal(500))
    const reason = 'the endpoint returned status 500'
    expect(await judgeOne(polite, turns)).toMatchObject({ status: 'failed', reason, retryAfterSeconds: 60 })
    expect([asked.length, waits]).toEqual([5, [1_000, 2_000, 4_000, 8_000]])
  })

  it('by closing the connection is retried', async () => {
    const { judgeOne, asked } = await makeJudge((_, number) => (number === 1 ? new Cut() : answer()))
    expect(await judgeOne(polite, turns)).toMatchObject({ result: 'not_affected' })
    expect(asked).toHaveLength(2)
  })

  it.each([400, 404, 422, 301])('with %i is not retried, because the request itself is invalid', async (status) => {
    const { judgeOne, asked } = await makeJudge(
      () => new Refusal(status, { location: 'http://127.0.0.1:1/' }, { error: { code: 'model_not_found' } }),
    )
    const result = await judgeOne(polite, turns)
    expect(result).toMatchObject({
      status: 'failed',
      reason: `the endpoint returned status ${status} (model_not_found)`,
    })
    expect(result.retryAfterSeconds).toBeUndefined()
    expect(asked).toHaveLength(1)
  })

  it('with 401 is not retried now, because the operator has to fix it', async () => {
    const { judgeOne, asked } = await makeJudge(() => new Refusal(401))
    expect(await judgeOne(polite, turns)).toMatchObject({ status: 'failed', retryAfterSeconds: 60 })
    expect(asked).toHaveLength(1)
  })

  it('by timing out is retried', async () => {
    const never = new Promise(() => {})
    const { judgeOne, asked } = await makeJudge((_, number) => (number === 1 ? never : answer()), {
      EARSHOT_JUDGE_LIMITS: 'timeoutMs=1000',
    })
    expect(await judgeOne(polite, turns)).toMatchObject({ result: 'not_affected' })
    expect(asked).toHaveLength(2)
  })

  it('by sending without end is aborted', async () => {
    const { judgeOne } = await makeJudge(() => new Raw('x'.repeat(5 * 1024 * 1024)), {
      EARSHOT_JUDGE_LIMITS: 'attempts=1',
    })
    const reason = 'The request failed (UND_ERR_RES_EXCEEDED_MAX_SIZE).'
    expect(await judgeOne(polite, turns)).toMatchObject({ status: 'failed', reason })
  })

  it('by being unreachable is reported without its address', async () => {
    const judge = openInstanceJudge({
      EARSHOT_JUDGE_BASE_URL: 'http://127.0.0.1:1/v1',
      EARSHOT_JUDGE_MODEL: 'm',
      EARSHOT_JUDGE_LIMITS: 'attempts=1',
    })
    const [result] = await judge.evaluate({ definitions: [polite], turns })
    expect(result).toMatchObject({ status: 'failed', retryAfterSeconds: 60 })
    expect(result?.reason).toBe('The request failed (ECONNREFUSED).')
    await judge.close()
  })

  it('never reveals the key or the transcript', async () => {
    const echoes = [
      { error: { message: `Bad key ${apiKey}`, code: apiKey, type: apiKey } },
      { error: { message: 'I have a secret to tell.', code: 'I have a secret to tell.', type: 'secret' } },
      { error: `Incorrect API key provided: ${apiKey}` },
      `${apiKey} I have a secret to tell.`,
      null,
    ]
    for (const status of [400, 401, 429, 500]) {
      for (const body of echoes) {
        const { judgeOne } = await makeJudge(() => new Refusal(status, { 'x-echo': apiKey }, body))
        const told = JSON.stringify(await judgeOne(polite, turns))
        expect(told).toContain(`the endpoint returned status ${status}`)
        expect(told).not.toContain(apiKey)
        expect(told).not.toContain('to tell')
      }
    }
  })
})

describe('aborting', () => {
  it('by its caller, or because the service stops, rejects the judgment with the reason and leaves nothing open', async () => {
    const never = new Promise(() => {})
    const model = await serveModel(() => never)
    const judge = openInstanceJudge({
      EARSHOT_JUDGE_BASE_URL: model.url,
      EARSHOT_JUDGE_MODEL: 'm',
      EARSHOT_JUDGE_LIMITS: 'concurrency=1',
    })
    const controller = new AbortController()
    const ended = judge.evaluate({ definitions: [polite], turns, signal: controller.signal })
    const stopped = judge.evaluate({ definitions: [polite], turns })
    const inLine = judge.evaluate({ definitions: [polite], turns })
    const outcomes = Promise.allSettled([ended, stopped, inLine])
    await expect.poll(() => model.asked.length).toBe(1)
    controller.abort(new Error('enough'))
    await expect(ended).rejects.toThrow('enough')
    await expect.poll(() => model.asked.length).toBe(2)
    await judge.close()
    expect((await outcomes).map((one) => one.status === 'rejected' && one.reason.message)).toEqual([
      'enough',
      'The service is stopping.',
      'The service is stopping.',
    ])
    await expect.poll(model.open).toBe(0)
  })
})

describe('Retry-After', () => {
  const now = new Date('2026-05-01T12:00:00Z')
  it.each([
    ['7', 7_000],
    ['0.5', 500],
    ['Fri, 01 May 2026 12:00:30 GMT', 30_000],
    ['Fri, 01 May 2026 11:00:00 GMT', 0],
    ['99999999999999', 3_600_000],
    ['soon', 0],
    ['-5', 0],
    [undefined, 0],
  ])('%s', (header, ms) => {
    expect(readRetryAfter(header, now)).toBe(ms)
  })
})
