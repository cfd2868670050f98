import { below, type Dialect, type ModelReply, readTokens } from './provider.ts'

/** The properties of a chat completion that are read. Other software may omit any of them. */
type Completion = {
  choices?: { finish_reason?: unknown; message?: { content?: unknown; refusal?: unknown } }[]
  usage?: { prompt_tokens?: unknown; completion_tokens?: unknown }
} | null

const read = (body: unknown): ModelReply | undefined => {
  const completion = body as Completion
  const choice = completion?.choices?.[0]
  const tokens = readTokens(completion?.usage?.prompt_tokens, completion?.usage?.completion_tokens)
  if (!choice?.message) return undefined
  const { content, refusal } = choice.message
  if (typeof refusal === 'string' || choice.finish_reason === 'content_filter')
    return { text: '', end: 'refused', tokens }
  if (typeof content !== 'string') return undefined
  return { text: content, end: choice.finish_reason === 'length' ? 'cut' : 'whole', tokens }
}

/**
 * Requests contain neither a temperature nor a token limit, because newer models and many compatible endpoints reject
 * them.
 */
export const openaiCompatible: Dialect = {
  url: (base) => below(base, '/chat/completions'),
  headers: (apiKey): Record<string, string> => (apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
  body: (model, { system, user, schema }) => ({
    model,
    messages: [
      { role: 'system', content: system },
      { role: 'user', content: user },
    ],
    response_format: { type: 'json_schema', json_schema: { name: 'judgment', strict: true, schema } },
  }),
  read,
}
