// https://platform.openai.com/docs/api-reference/chat/create
import {
  below,
  type Dialect,
  type ModelReply,
  type PromptOptions,
  type PromptSound,
  postJson,
  readModels,
  readTokens,
} from '../dialect.ts'
import { postTexts, readEmbeddings } from '../embeddings.ts'
import { postAudio, readTranscription } from '../transcription.ts'

type Usage = {
  prompt_tokens?: unknown
  completion_tokens?: unknown
  prompt_tokens_details?: { cached_tokens?: unknown; cache_write_tokens?: unknown; audio_tokens?: unknown } | null
}

/** The properties of a chat completion that are used here. Compatible software may omit any of them. */
type Completion = {
  choices?: { finish_reason?: unknown; message?: { content?: unknown; refusal?: unknown } }[]
  usage?: Usage | null
} | null

const tokensOf = ({ prompt_tokens, completion_tokens, prompt_tokens_details }: Usage) =>
  readTokens({
    input: prompt_tokens,
    output: completion_tokens,
    cachedInput: prompt_tokens_details?.cached_tokens,
    cacheWrite: prompt_tokens_details?.cache_write_tokens,
    audioInput: prompt_tokens_details?.audio_tokens,
  })

export const readCompletion = (body: unknown): ModelReply | undefined => {
  const completion = body as Completion
  const choice = completion?.choices?.[0]
  if (!choice?.message) return undefined
  const tokens = tokensOf(completion?.usage ?? {})
  const { content, refusal } = choice.message
  if (typeof refusal === 'string' || choice.finish_reason === 'content_filter')
    return { text: '', end: 'refused', tokens }
  if (typeof content !== 'string') return undefined
  return { text: content, end: choice.finish_reason === 'length' ? 'cut' : 'whole', tokens }
}

/** Returns the content parts of a message with sound. */
const soundParts = ({ caption, wav }: PromptSound) => [
  { type: 'text', text: caption },
  { type: 'input_audio', input_audio: { data: wav.toString('base64'), format: 'wav' } },
]

/**
 * Requests contain neither a temperature nor a token limit, because newer models and many compatible endpoints reject
 * them.
 */
export const completionBody = ({ model, system, sounds, user, schema }: PromptOptions) => ({
  model,
  messages: [
    { role: 'system', content: system },
    { role: 'user', content: sounds ? [...sounds.flatMap(soundParts), { type: 'text', text: user }] : user },
  ],
  ...(schema && { response_format: { type: 'json_schema', json_schema: { name: 'judgment', strict: true, schema } } }),
})

export const bearer = (apiKey: string | undefined): Record<string, string> =>
  apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }

export const openaiCompatible: Dialect = {
  takesSound: true,
  ask: ({ baseUrl, apiKey }, options) =>
    postJson(below(baseUrl, '/chat/completions'), bearer(apiKey), completionBody(options)),
  read: readCompletion,
  transcribe: ({ baseUrl, apiKey }, options) =>
    postAudio(below(baseUrl, '/audio/transcriptions'), bearer(apiKey), options),
  readTranscription,
  embed: ({ baseUrl, apiKey }, options) => postTexts(below(baseUrl, '/embeddings'), bearer(apiKey), options),
  readEmbeddings,
  list: ({ baseUrl, apiKey }) => [{ method: 'GET', url: below(baseUrl, '/models'), headers: bearer(apiKey) }],
  readList: (body) => readModels((body as { data?: unknown } | null)?.data, { id: 'id' }),
}
