import { below, type Dialect, type ModelReply, readTokens } from './provider.ts'

/** The properties of a message that are read. */
type Message = {
  content?: { type?: unknown; text?: unknown }[]
  stop_reason?: unknown
  usage?: Record<string, unknown>
} | null

const ends: Record<string, ModelReply['end']> = {
  max_tokens: 'cut',
  model_context_window_exceeded: 'cut',
  refusal: 'refused',
}

/** Returns the input tokens, including those that came from the cache. */
const inputTokens = (usage: Record<string, unknown>): unknown => {
  const { input_tokens, cache_creation_input_tokens, cache_read_input_tokens } = usage
  return Number(input_tokens) + Number(cache_creation_input_tokens ?? 0) + Number(cache_read_input_tokens ?? 0)
}

const read = (body: unknown): ModelReply | undefined => {
  const message = body as Message
  if (!Array.isArray(message?.content)) return undefined
  const text = message.content.map((block) =>
    block?.type === 'text' && typeof block.text === 'string' ? block.text : '',
  )
  const { usage = {}, stop_reason } = message
  const tokens = readTokens(inputTokens(usage), usage.output_tokens)
  return { text: text.join(''), end: ends[String(stop_reason)] ?? 'whole', tokens }
}

/** The answers of all monitors in a request need less than this. */
const mostAnswerTokens = 16_000

export const anthropic: Dialect = {
  url: (base) => below(base, /\/v1\/?$/.test(new URL(base).pathname) ? '/messages' : '/v1/messages'),
  headers: (apiKey) => ({ 'anthropic-version': '2023-06-01', ...(apiKey !== undefined && { 'x-api-key': apiKey }) }),
  body: (model, { system, user, schema }) => ({
    model,
    max_tokens: mostAnswerTokens,
    system,
    messages: [{ role: 'user', content: user }],
    output_config: { format: { type: 'json_schema', schema } },
  }),
  read,
}
