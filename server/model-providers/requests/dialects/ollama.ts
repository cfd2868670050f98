// https://docs.ollama.com/api/chat
import { below, type Dialect, type ModelReply, postJson, readModels, readTokens } from '../dialect.ts'

/** The properties of a response that are used here. */
type Chat = {
  message?: { content?: unknown } | null
  done_reason?: unknown
  prompt_eval_count?: unknown
  eval_count?: unknown
} | null

const read = (body: unknown): ModelReply | undefined => {
  const chat = body as Chat
  const content = chat?.message?.content
  if (typeof content !== 'string') return undefined
  const tokens = readTokens({ input: chat?.prompt_eval_count, output: chat?.eval_count })
  return { text: content, end: chat?.done_reason === 'length' ? 'cut' : 'whole', tokens }
}

const headersOf = (apiKey: string | undefined): Record<string, string> =>
  apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }

export const ollama: Dialect = {
  ask: ({ baseUrl, apiKey }, { model, system, user, schema, contextTokens }) =>
    postJson(below(baseUrl, '/api/chat'), headersOf(apiKey), {
      model,
      messages: [
        { role: 'system', content: system },
        { role: 'user', content: user },
      ],
      stream: false,
      ...(schema && { format: schema }),
      // Without this option, Ollama uses a smaller context and cuts off the beginning of the prompt without an error.
      options: { num_ctx: contextTokens },
    }),
  read,
  list: ({ baseUrl, apiKey }) => [{ method: 'GET', url: below(baseUrl, '/api/tags'), headers: headersOf(apiKey) }],
  readList: (body) => readModels((body as { models?: unknown } | null)?.models, { id: 'name' }),
}
