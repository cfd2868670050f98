// Stands in for the embedding APIs of OpenAI and Azure. Each word is assigned to a dimension of the vector, so texts
// are similar if they share words.
import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import type { ProviderKind } from '../../../server/model-providers/settings.ts'
import { serve } from '../../outside.ts'
import { Failure, standInKey } from './stand-ins.ts'

type Asked = { path: string; model: string; texts: string[] }
type Answering = (asked: Asked, number: number) => Failure | undefined

const paths: Partial<Record<ProviderKind, RegExp>> = {
  'openai-compatible': /^\/v1\/embeddings$/,
  'azure-openai': /^\/openai\/(v1\/embeddings|deployments\/[^/]+\/embeddings\?api-version=\d{4}-\d\d-\d\d)$/,
}

const isAllowed = (kind: ProviderKind, { headers }: IncomingMessage): boolean =>
  kind === 'azure-openai' ? headers['api-key'] === standInKey : headers.authorization === `Bearer ${standInKey}`

const wordsOf = (given: string): string[] => given.toLowerCase().match(/\p{L}+/gu) ?? []

const vectorOf = (given: string, dimensions: number): number[] => {
  const vector = Array.from({ length: dimensions }, () => 0.001)
  for (const word of wordsOf(given)) {
    const hash = [...word].reduce((sum, character) => (sum * 31 + character.charCodeAt(0)) % 1_000_003, 7)
    vector[hash % dimensions] = (vector[hash % dimensions] ?? 0) + 1
  }
  return vector
}

/** Starts the stand-in. `answering` can return a failure. */
export const serveEmbeddings = async (
  kind: ProviderKind,
  { answering = () => undefined, dimensions = 1_536 }: { answering?: Answering; dimensions?: number } = {},
) => {
  const asked: Asked[] = []

  const answerTo = async (request: IncomingMessage): Promise<Failure> => {
    const body = await text(request)
    if (!isAllowed(kind, request)) return new Failure(401)
    if (request.method === 'GET' && request.url === '/v1/models') return new Failure(200, { object: 'list', data: [] })
    if (request.method !== 'POST' || !paths[kind]?.test(request.url ?? '')) return new Failure(404)
    const { model, input } = JSON.parse(body) as { model: string; input: unknown }
    if (!Array.isArray(input) || input.length > 2_048 || input.some((one) => typeof one !== 'string' || one === '')) {
      return new Failure(400)
    }
    const one = { path: request.url ?? '', model, texts: input as string[] }
    asked.push(one)
    const fault = answering(one, asked.length)
    if (fault) return fault
    const data = one.texts.map((each, index) => ({ object: 'embedding', index, embedding: vectorOf(each, dimensions) }))
    const tokens = one.texts.reduce((sum, each) => sum + wordsOf(each).length, 0)
    // The API does not guarantee the order.
    return new Failure(200, {
      object: 'list',
      data: data.reverse(),
      model,
      usage: { prompt_tokens: tokens, total_tokens: tokens },
    })
  }

  const server = await serve(async (request, response) => {
    const { status, body, headers } = await answerTo(request)
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
  })
  const path = kind === 'azure-openai' ? '' : '/v1'
  return { asked, settings: { baseUrl: `${server.url}${path}`, apiKey: standInKey } }
}
