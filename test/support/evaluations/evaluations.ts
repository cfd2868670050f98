// Starts a service with a fake model, and creates conversations to evaluate.
import { afterAll } from 'vitest'
import { makeMonitor } from '../../make.ts'
import { testServer } from '../../server.ts'
import { answer, serveModel } from '../monitors/model-server.ts'

const rude = { criteria: 'The agent was impolite.', output: { type: 'boolean' } }
export const turns = [
  { role: 'agent', text: 'Good morning, this is Leo.' },
  { role: 'customer', text: 'I want my money back.' },
  { role: 'agent', text: 'That is none of my business.' },
]
export const impolite = (given: object = {}) =>
  answer({ result: 'affected', evidence: [{ turn: 2, quote: 'none of my business' }], ...given })

type Answering = Parameters<typeof serveModel>[0]

/** Starts a service with a model that answers as the current test specifies. */
export const serverWithModel = async (env: Record<string, string> = {}) => {
  let answering: Answering = () => impolite()
  const model = await serveModel((asked, number) => answering(asked, number), afterAll)
  const server = await testServer({
    EARSHOT_JUDGE_BASE_URL: `${model.url}/v1`,
    EARSHOT_JUDGE_API_KEY: 'sk-the-key-of-the-tests',
    EARSHOT_JUDGE_MODEL: 'model-1',
    EARSHOT_JUDGE_LIMITS: 'attempts=1,concurrency=4',
    EARSHOT_JUDGE_PRICES: 'model-1=1000/10000',
    ...env,
  })
  const resultsOf = async (key: string, conversationId: string) =>
    (await server.call('GET', `/v1/conversations/${conversationId}/results`, { key })).body.data
  const makeRule = (key: string, expression: string, fields: object = {}) =>
    makeMonitor(server, key, { kind: 'rule', definition: { expression }, ...fields })
  const makeJudge = (key: string, fields: object = {}) =>
    makeMonitor(server, key, { kind: 'judge', definition: rude, ...fields })
  return {
    server,
    resultsOf,
    makeRule,
    makeJudge,
    asked: model.asked,
    answerBy: (next: Answering) => {
      answering = next
      model.asked.length = 0
    },
  }
}
