// https://platform.claude.com/docs/en/api/messages
import { below, type Dialect, joinTexts, type ModelReply, postJson, readModels, readTokens } from '../dialect.ts'

/** The properties of a message that are used here. */
type Message = { content?: unknown; stop_reason?: unknown; usage?: Record<string, unknown> } | null

const ends: Record<string, ModelReply['end']> = {
  max_tokens: 'cut',
  model_context_window_exceeded: 'cut',
  refusal: 'refused',
}

/** Returns the tokens of a response. Anthropic counts cached tokens separately. */
const tokensOf = ({
  input_tokens,
  output_tokens,
  cache_creation_input_tokens: written,
  cache_read_input_tokens: cached,
}: Record<string, unknown>) =>
  readTokens({
    input: Number(input_tokens) + Number(written ?? 0) + Number(cached ?? 0),
    output: output_tokens,
    cachedInput: cached,
    cacheWrite: written,
  })

const read = (body: unknown): ModelReply | undefined => {
  const message = body as Message
  if (!Array.isArray(message?.content)) return undefined
  const text = joinTexts(message.content, ({ type }) => type === 'text')
  return { text, end: ends[String(message.stop_reason)] ?? 'whole', tokens: tokensOf(message.usage ?? {}) }
}

/** The answers for all monitors in a request need fewer tokens than this. */
const mostAnswerTokens = 16_000

/** People copy the URL with or without the API version. */
export const urlOf = (baseUrl: string, path: string): URL =>
  below(baseUrl, `${/\/v1\/?$/.test(new URL(baseUrl).pathname) ? '' : '/v1'}${path}`)

export const headersOf = (apiKey: string | undefined): Record<string, string> => ({
  'anthropic-version': '2023-06-01',
  ...(apiKey !== undefined && { 'x-api-key': apiKey }),
})

/** Anthropic caches everything up to a marker, and ignores the marker if the text is short. */
const cached = { cache_control: { type: 'ephemeral' } }

/** All models fit on one page. */
const modelsPath = '/models'
const mostModels = '1000'

export const anthropic: Dialect = {
  marksShared: true,
  ask: ({ baseUrl, apiKey, promptCaching = true }, { model, system, shared, user, schema }) =>
    postJson(urlOf(baseUrl, '/messages'), headersOf(apiKey), {
      model,
      max_tokens: mostAnswerTokens,
      // The instructions and criteria are the same for every conversation, and so are most examples.
      system: [{ type: 'text', text: system, ...(promptCaching && cached) }],
      messages: [
        {
          role: 'user',
          content:
            shared === undefined
              ? user
              : [
                  { type: 'text', text: `${shared}\n`, ...(promptCaching && cached) },
                  { type: 'text', text: user },
                ],
        },
      ],
      ...(schema && { output_config: { format: { type: 'json_schema', schema } } }),
    }),
  read,
  list: ({ baseUrl, apiKey }) => {
    const url = urlOf(baseUrl, modelsPath)
    url.searchParams.set('limit', mostModels)
    return [{ method: 'GET', url, headers: headersOf(apiKey) }]
  },
  readList: (body) => readModels((body as { data?: unknown } | null)?.data, { id: 'id', name: 'display_name' }),
}
