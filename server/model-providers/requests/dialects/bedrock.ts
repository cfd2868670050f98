// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto'
import type { ProviderSettings } from '../../settings.ts'
import {
  below,
  type Dialect,
  type HttpRequest,
  joinTexts,
  type ModelReply,
  type OfferedModel,
  postJson,
  readModels,
  readTokens,
} from '../dialect.ts'

/** Implements the hash interface that the library requires. */
class Sha256 {
  private readonly hash: Hash | Hmac

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    const key = secret instanceof ArrayBuffer ? new Uint8Array(secret) : (secret as Uint8Array | string | undefined)
    this.hash = key === undefined ? createHash('sha256') : createHmac('sha256', key)
  }

  update(data: string | Uint8Array): void {
    this.hash.update(data)
  }

  async digest(): Promise<Uint8Array> {
    return this.hash.digest()
  }

  reset(): void {
    throw new Error('A hash can only be used once')
  }
}

/** Signs a request, or adds the API key if there is one. */
const authorize = async (settings: ProviderSettings, request: HttpRequest): Promise<HttpRequest> => {
  const { apiKey, region = '', accessKeyId = '', secretAccessKey = '' } = settings
  const { method, url, headers, body } = request
  if (apiKey !== undefined) return { ...request, headers: { ...headers, authorization: `Bearer ${apiKey}` } }
  const { SignatureV4 } = await import('@smithy/signature-v4')
  const signer = new SignatureV4({
    service: 'bedrock',
    region,
    credentials: { accessKeyId, secretAccessKey },
    sha256: Sha256,
  })
  const signed = await signer.sign({
    method,
    protocol: url.protocol,
    hostname: url.hostname,
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    headers: { host: url.host, ...headers },
    ...(body !== undefined && { body }),
  })
  return { ...request, headers: signed.headers }
}

/** The properties of a response that are used here. */
type Converse = {
  output?: { message?: { content?: unknown } | null } | null
  stopReason?: unknown
  usage?: Record<string, unknown>
} | null

const ends: Record<string, ModelReply['end']> = {
  max_tokens: 'cut',
  model_context_window_exceeded: 'cut',
  guardrail_intervened: 'refused',
  content_filtered: 'refused',
}

/** Returns the tokens of a response. Bedrock counts cached tokens separately. */
const tokensOf = ({
  inputTokens,
  outputTokens,
  cacheReadInputTokens,
  cacheWriteInputTokens,
}: Record<string, unknown>) =>
  readTokens({
    input: Number(inputTokens) + Number(cacheReadInputTokens ?? 0) + Number(cacheWriteInputTokens ?? 0),
    output: outputTokens,
    cachedInput: cacheReadInputTokens,
    cacheWrite: cacheWriteInputTokens,
  })

const read = (body: unknown): ModelReply | undefined => {
  const { output, stopReason, usage } = Object(body) as NonNullable<Converse>
  const content = output?.message?.content
  if (!Array.isArray(content)) return undefined
  const text = joinTexts(content, () => true)
  return { text, end: ends[String(stopReason)] ?? 'whole', tokens: tokensOf(usage ?? {}) }
}

const modelUrl = ({ baseUrl }: ProviderSettings, model: string): URL =>
  below(baseUrl, `/model/${encodeURIComponent(model)}/converse`)

/** The host that lists models is not the one that runs them, unless the base URL was changed. */
const listUrl = ({ baseUrl }: ProviderSettings, path: string): URL => {
  const url = below(baseUrl, path)
  url.hostname = url.hostname.replace(/^bedrock-runtime\./, 'bedrock.')
  return url
}

/**
 * Reads the list of models. Bedrock offers models directly and through inference profiles. Many new models require a
 * profile.
 */
const readList = (body: unknown): OfferedModel[] | undefined => {
  const { modelSummaries, inferenceProfileSummaries } = Object(body) as Record<string, unknown>
  if (Array.isArray(modelSummaries)) {
    const direct = modelSummaries.filter(
      (one) => (Object(one).inferenceTypesSupported as unknown[] | undefined)?.includes?.('ON_DEMAND') === true,
    )
    return readModels(direct, { id: 'modelId', name: 'modelName' })
  }
  return readModels(inferenceProfileSummaries, { id: 'inferenceProfileId', name: 'inferenceProfileName' })
}

export const bedrock: Dialect = {
  ask: (settings, { model, system, user, schema }) => {
    const structure = { jsonSchema: { name: 'judgment', schema: JSON.stringify(schema) } }
    // Only some models accept a cache point.
    const cachePoint = settings.promptCaching === true ? [{ cachePoint: { type: 'default' } }] : []
    const request = postJson(
      modelUrl(settings, model),
      {},
      {
        system: [{ text: system }, ...cachePoint],
        messages: [{ role: 'user', content: [{ text: user }] }],
        ...(schema && { outputConfig: { textFormat: { type: 'json_schema', structure } } }),
      },
    )
    return authorize(settings, request)
  },
  read,
  list: async (settings) => {
    const models = listUrl(settings, '/foundation-models')
    models.searchParams.set('byOutputModality', 'TEXT')
    const profiles = listUrl(settings, '/inference-profiles')
    profiles.searchParams.set('maxResults', '1000')
    return Promise.all([models, profiles].map((url) => authorize(settings, { method: 'GET', url, headers: {} })))
  },
  readList,
}
