// https://ai.google.dev/api/generate-content
import { below, type Dialect, joinTexts, type ModelReply, type PromptSound, postJson, readTokens } from '../dialect.ts'

type Candidate = { content?: { parts?: unknown } | null; finishReason?: unknown }

/** The properties of a response that are used here. */
type Generated = {
  candidates?: Candidate[]
  promptFeedback?: { blockReason?: unknown } | null
  usageMetadata?: Record<string, unknown>
} | null

/** All other reasons mean that the model or a filter refused the request. */
const ends: Record<string, ModelReply['end']> = { STOP: 'whole', MAX_TOKENS: 'cut' }

/** Returns the number of tokens for one kind of input. */
const countOf = (modality: string, details: unknown): unknown => {
  if (!Array.isArray(details)) return undefined
  const found = details.find((one) => (Object(one) as { modality?: unknown }).modality === modality)
  return (Object(found) as { tokenCount?: unknown }).tokenCount
}

/**
 * Returns the tokens of a response. Google counts the model's thoughts separately, but they cost the same as its
 * answer.
 */
const tokensOf = ({
  promptTokenCount,
  candidatesTokenCount = 0,
  thoughtsTokenCount = 0,
  cachedContentTokenCount,
  promptTokensDetails,
}: Record<string, unknown>) =>
  readTokens({
    input: promptTokenCount,
    output: Number(candidatesTokenCount) + Number(thoughtsTokenCount),
    cachedInput: cachedContentTokenCount,
    audioInput: countOf('AUDIO', promptTokensDetails),
  })

const read = (body: unknown): ModelReply | undefined => {
  const generated = body as Generated
  const tokens = tokensOf(generated?.usageMetadata ?? {})
  if (generated?.promptFeedback?.blockReason !== undefined) return { text: '', end: 'refused', tokens }
  const candidate = generated?.candidates?.[0]
  if (!candidate) return undefined
  const end = ends[String(candidate.finishReason)] ?? 'refused'
  const parts = candidate.content?.parts
  if (!Array.isArray(parts)) return end === 'whole' ? undefined : { text: '', end, tokens }
  return { text: joinTexts(parts, ({ thought }) => thought !== true), end, tokens }
}

const headersOf = (apiKey: string | undefined): Record<string, string> =>
  apiKey === undefined ? {} : { 'x-goog-api-key': apiKey }

/** Model names may or may not include the name of their collection. */
const withoutCollection = (name: string): string => name.replace(/^models\//, '')

const soundParts = ({ caption, wav }: PromptSound) => [
  { text: caption },
  { inlineData: { mimeType: 'audio/wav', data: wav.toString('base64') } },
]

type Listed = { name?: unknown; displayName?: unknown; supportedGenerationMethods?: unknown } | null

const mostModels = '1000'

export const google: Dialect = {
  takesSound: true,
  ask: ({ baseUrl, apiKey }, { model, system, sounds, user, schema }) =>
    postJson(
      below(baseUrl, `/v1beta/models/${encodeURIComponent(withoutCollection(model))}:generateContent`),
      headersOf(apiKey),
      {
        systemInstruction: { parts: [{ text: system }] },
        contents: [{ role: 'user', parts: [...(sounds ?? []).flatMap(soundParts), { text: user }] }],
        ...(schema && { generationConfig: { responseMimeType: 'application/json', responseJsonSchema: schema } }),
      },
    ),
  read,
  list: ({ baseUrl, apiKey }) => {
    const url = below(baseUrl, '/v1beta/models')
    url.searchParams.set('pageSize', mostModels)
    return [{ method: 'GET', url, headers: headersOf(apiKey) }]
  },
  readList: (body) => {
    const { models } = Object(body) as { models?: unknown }
    if (!Array.isArray(models)) return undefined
    return models.flatMap((entry: Listed) => {
      const { name, displayName, supportedGenerationMethods: methods } = Object(entry) as NonNullable<Listed>
      if (typeof name !== 'string' || !Array.isArray(methods) || !methods.includes('generateContent')) return []
      return [{ id: withoutCollection(name), name: typeof displayName === 'string' ? displayName : null }]
    })
  },
}
