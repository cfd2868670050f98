// Serves a fake model that answers as a test specifies, and records its requests.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { openModels } from '../../../server/model-providers/models.ts'
import { type JudgeRequest, openJudge } from '../../../server/monitors/judges/judge.ts'
import { type Config, loadConfig } from '../../../server/platform/config.ts'
import type { Turn } from '../../../server/transcripts/turn.ts'
import { serve } from '../../outside.ts'

export const makeTurn = (index: number, words: Partial<Turn> | string): Turn => ({
  index,
  role: index % 2 === 0 ? 'agent' : 'customer',
  kind: 'message',
  text: null,
  startMs: null,
  endMs: null,
  interrupted: false,
  words: null,
  tool: null,
  latency: null,
  ...(typeof words === 'string' ? { text: words } : words),
})

export const makeTurns = (...said: (Partial<Turn> | string)[]): Turn[] =>
  said.map((words, index) => makeTurn(index, words))

export const polite = { criteria: 'The agent was impolite.', output: { type: 'boolean' } } as const

/** A score of 7 or more out of 10 is affected. */
export const rudeness = {
  criteria: 'How rude was the agent?',
  output: { type: 'score', min: 0, max: 10, affectedWhen: { op: 'gte', value: 7 } },
} as const

export const answer = (given: object = {}) => ({
  evidence: [],
  reasoning: 'It shows.',
  score: null,
  result: 'not_affected',
  ...given,
})

export type ModelRequest = {
  path: string
  headers: IncomingMessage['headers']
  body: {
    model: string
    system: string
    messages: { role: string; content: string }[]
    response_format: { json_schema: { schema: { properties: object } } }
  }
  /** The transcript between its tags in the last message. */
  transcript: string
}

export type Answering = (asked: ModelRequest, number: number) => unknown

/** Sends a status with headers instead of an answer. */
export class Refusal {
  readonly status: number
  readonly headers: Record<string, string>
  readonly body: unknown

  constructor(status: number, headers: Record<string, string> = {}, body: unknown = {}) {
    this.status = status
    this.headers = headers
    this.body = body
  }
}

/** Sends text that is not wrapped as model output. */
export class Raw {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** Ends the connection in the middle of an answer. */
export class Cut {}

export const completion = (
  content: unknown,
  usage: object | null = { prompt_tokens: 1_000, completion_tokens: 100 },
) => ({
  choices: [{ finish_reason: 'stop', message: { content } }],
  ...(usage && { usage }),
})

const send = (response: ServerResponse, value: unknown): void => {
  if (value instanceof Refusal) {
    response.writeHead(value.status, value.headers).end(JSON.stringify(value.body))
  } else if (value instanceof Cut) {
    response.writeHead(200, { 'content-length': 100 }).write('{')
    response.destroy()
  } else if (value instanceof Raw) response.end(value.text)
  else response.end(JSON.stringify(value))
}

/** Wraps strings and answers that `answering` returns as model output, and sends anything else unchanged. */
export const serveModel = async (answering: Answering, whenOver?: Parameters<typeof serve>[1]) => {
  const asked: ModelRequest[] = []
  const server = await serve(async (request, response) => {
    const body = JSON.parse(await text(request))
    const content: string = body.messages.at(-1).content
    const transcript = /<transcript>\n([\s\S]*)\n<\/transcript>/.exec(content)?.[1] ?? ''
    const one = { path: request.url ?? '', headers: request.headers, body, transcript }
    asked.push(one)
    const value = await answering(one, asked.length)
    const isWords =
      typeof value === 'string' || (value instanceof Object && ('result' in value || 'monitor_1' in value))
    send(response, isWords ? completion(typeof value === 'string' ? value : JSON.stringify(value)) : value)
  }, whenOver)
  return { ...server, asked }
}

export const apiKey = 'sk-the-key-of-the-tests'

const judgeConfig = (env: Record<string, string>): Config['judge'] => loadConfig(env).judge

/** Opens a judge that only uses the operator's endpoint. */
export const openInstanceJudge = (env: Record<string, string>) => {
  const config = judgeConfig(env)
  const models = openModels({ config })
  const judge = openJudge(models, config.limits)
  const close = async () => {
    await judge.close()
    await models.close()
  }
  return { ...judge, close }
}

/** Creates a judge with a fake model. Its pauses are recorded, end immediately, and advance its clock. */
export const makeJudge = async (answering: Answering, env: Record<string, string> = {}) => {
  const model = await serveModel(answering)
  const config = judgeConfig({
    EARSHOT_JUDGE_BASE_URL: `${model.url}/v1`,
    EARSHOT_JUDGE_API_KEY: apiKey,
    EARSHOT_JUDGE_MODEL: 'model-1',
    ...env,
  })
  const waits: number[] = []
  let now = Date.parse('2026-05-01T12:00:00Z')
  const pass = (ms: number) => {
    now += ms
  }
  const clock = { now: () => new Date(now) }
  const models = openModels({
    config,
    clock,
    random: () => 1,
    wait: async (ms, signal) => {
      signal.throwIfAborted()
      waits.push(ms)
      pass(ms)
    },
  })
  const judge = openJudge(models, config.limits, clock)
  onTestFinished(models.close)
  onTestFinished(judge.close)
  const judgeOne = async (definition: JudgeRequest['definitions'][number], turns: Turn[]) => {
    const [result] = await judge.evaluate({ definitions: [definition], turns })
    if (!result) throw new Error('There is no result.')
    return result
  }
  return { ...judge, judgeOne, asked: model.asked, waits, pass }
}
