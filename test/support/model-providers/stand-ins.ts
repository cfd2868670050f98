// Stands in for the APIs of model providers: it checks requests as their documentation requires, and answers in the
// documented formats.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import type { ProviderKind } from '../../../server/model-providers/settings.ts'
import { strict } from '../../../server/platform/json-schema.ts'
import { serve } from '../../outside.ts'
import { Lines, openBatchStandIn } from './batch-stand-in.ts'
import { objectsWithOptional, openObjects, rejectedKeywords } from './schema-rules.ts'
import { signerOf } from './signature.ts'

export const standInKey = 'key-0123456789-of-the-stand-in'
export const standInModel = 'model-a'
const accessKeyId = 'AKIDSTANDIN'
const region = 'eu-central-1'

/** The model's text input, in the same form for all kinds of providers. */
export type Asked = {
  kind: ProviderKind
  model: string
  system: string
  user: string
  /** The model's audio input. */
  sounds?: Heard[]
  schema: unknown
  path: string
  headers: IncomingMessage['headers']
  body: Record<string, unknown>
}

export type Heard = { caption: string; wav: Buffer }

export type Usage = { input: number; output: number; cachedInput: number; cacheWrite: number; audioInput?: number }

/** Sends this status and body instead of an answer. */
export class Failure {
  readonly status: number
  readonly body: unknown
  readonly headers: Record<string, string>

  constructor(status: number, body: unknown = {}, headers: Record<string, string> = {}) {
    this.status = status
    this.body = body
    this.headers = headers
  }
}

type Reply = { text: string; usage?: Partial<Usage>; end?: 'whole' | 'cut' | 'refused' }

export type Answering = (asked: Asked, number: number) => Reply | Failure | Promise<Reply | Failure>

type Incoming = { request: IncomingMessage; url: URL; raw: string; body: Record<string, unknown> }

type StandIn = {
  /** Returns a failure if a request violates the documentation or is not allowed. */
  check: (incoming: Incoming) => Failure | undefined
  /** Returns undefined unless the request asks a model. */
  read: (incoming: Incoming) => Pick<Asked, 'model' | 'system' | 'user' | 'sounds' | 'schema'> | undefined
  unknownModel: (model: string) => Failure
  write: (reply: Required<Reply> & { usage: Usage }, model: string) => object
  list: (incoming: Incoming) => object | undefined
}

const closed = (properties: Record<string, object>, required = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})
const string = { type: 'string' }
const constant = (value: unknown) => ({ const: value })
const list = (items: object) => ({ type: 'array', items, minItems: 1 })

/** Returns the fault of a body, or undefined if it is valid. */
const checker = (schema: object) => {
  const validate = strict.compile(schema)
  return (body: unknown): string | undefined => (validate(body) ? undefined : JSON.stringify(validate.errors))
}

const isJson = ({ request }: Incoming) => request.headers['content-type'] === 'application/json'

type Texts = { text: string }[]
const joined = (parts: Texts): string => parts.map((part) => part.text).join('')

// OpenAI: https://platform.openai.com/docs/api-reference/chat/create

const openaiError = (status: number, code: string | null, message: string, type = 'invalid_request_error') =>
  new Failure(status, { error: { message, type, param: null, code } })

const textPart = closed({ type: constant('text'), text: string })
const soundPart = closed({
  type: constant('input_audio'),
  input_audio: closed({ data: { type: 'string', minLength: 1 }, format: { enum: ['wav', 'mp3'] } }),
})

const completionFault = checker(
  closed(
    {
      model: string,
      messages: list(
        closed({
          role: { enum: ['system', 'user'] },
          content: { anyOf: [string, list({ anyOf: [textPart, soundPart] })] },
        }),
      ),
      response_format: closed({
        type: constant('json_schema'),
        json_schema: closed({
          name: { type: 'string', pattern: '^[\\w-]{1,64}$' },
          strict: constant(true),
          schema: { type: 'object' },
        }),
      }),
    },
    ['model', 'messages'],
  ),
)

type ContentPart = { text: string } | { input_audio: { data: string } }

type CompletionBody = {
  model: string
  messages: { role: string; content: string | ContentPart[] }[]
  response_format?: { json_schema: { schema: unknown } }
}

const completionBodyOf = ({ body }: Incoming) => body as unknown as CompletionBody

const checkCompletion = (incoming: Incoming): string | undefined => {
  if (!isJson(incoming)) return 'the content type must be application/json'
  const { response_format: format } = completionBodyOf(incoming)
  const schema = format?.json_schema.schema
  if (openObjects(schema).length > 0)
    return "In context=(), 'additionalProperties' is required to be supplied and to be false."
  if (objectsWithOptional(schema).length > 0) return "In context=(), 'required' is required to include every key."
  return completionFault(incoming.body)
}

/** Returns the sounds of a message, each after its caption, and the text after them. */
const splitParts = (parts: (string | Buffer)[]) => {
  const sounds = parts.flatMap((part, at): Heard[] =>
    typeof part === 'string' ? [] : [{ caption: String(parts[at - 1]), wav: part }],
  )
  return { sounds, user: String(parts.at(-1)) }
}

const readCompletion = (incoming: Incoming) => {
  const { model, messages, response_format } = completionBodyOf(incoming)
  const of = (role: string) => messages.find((message) => message.role === role)?.content ?? ''
  const [system, user] = [of('system'), of('user')]
  const given = { model, system: String(system), schema: response_format?.json_schema.schema }
  if (typeof user === 'string') return { ...given, user }
  const parts = user.map((part) => ('text' in part ? part.text : Buffer.from(part.input_audio.data, 'base64')))
  return { ...given, ...splitParts(parts) }
}

const finishes = { whole: 'stop', cut: 'length', refused: 'content_filter' }

const writeCompletion: StandIn['write'] = ({ text: content, end, usage }, model) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_790_000_000,
  model,
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content, refusal: null, annotations: [] },
      logprobs: null,
      finish_reason: finishes[end],
    },
  ],
  usage: {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cachedInput, audio_tokens: usage.audioInput ?? 0 },
    completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
  },
  service_tier: 'default',
})

const openai: StandIn = {
  check: (incoming) => {
    const { request, url } = incoming
    if (request.headers.authorization !== `Bearer ${standInKey}`)
      return openaiError(401, 'invalid_api_key', `Incorrect API key provided: ${request.headers.authorization}.`)
    if (request.method === 'GET' && url.pathname === '/v1/models') return undefined
    if (request.method !== 'POST' || url.pathname !== '/v1/chat/completions')
      return openaiError(404, null, `Invalid URL (${request.method} ${url.pathname})`)
    const fault = checkCompletion(incoming)
    return fault === undefined ? undefined : openaiError(400, null, fault)
  },
  read: readCompletion,
  unknownModel: (model) => openaiError(404, 'model_not_found', `The model \`${model}\` does not exist.`),
  write: writeCompletion,
  list: ({ url }) =>
    url.pathname === '/v1/models'
      ? {
          object: 'list',
          data: [standInModel, 'model-b'].map((id) => ({ id, object: 'model', created: 1, owned_by: 'system' })),
        }
      : undefined,
}

// Azure: https://learn.microsoft.com/azure/foundry/openai/latest

const azureError = (status: number, code: string, message: string) => new Failure(status, { error: { code, message } })

const datedPath = /^\/openai\/deployments\/([^/]+)\/chat\/completions$/

const azure: StandIn = {
  check: (incoming) => {
    const { request, url } = incoming
    if (request.headers['api-key'] !== standInKey) {
      return azureError(401, '401', 'Access denied due to invalid subscription key or wrong API endpoint.')
    }
    const isDated = datedPath.test(url.pathname) && /^\d{4}-\d\d-\d\d/.test(url.searchParams.get('api-version') ?? '')
    const isCurrent = url.pathname === '/openai/v1/chat/completions' && !url.searchParams.has('api-version')
    if (request.method !== 'POST' || !(isDated || isCurrent)) return azureError(404, '404', 'Resource not found')
    const fault = checkCompletion(incoming)
    return fault === undefined ? undefined : azureError(400, 'BadRequest', fault)
  },
  read: (incoming) => {
    const [, deployment] = datedPath.exec(incoming.url.pathname) ?? []
    return { ...readCompletion(incoming), ...(deployment && { model: decodeURIComponent(deployment) }) }
  },
  unknownModel: () => azureError(404, 'DeploymentNotFound', 'The API deployment for this resource does not exist.'),
  write: writeCompletion,
  list: () => undefined,
}

// Anthropic: https://platform.claude.com/docs/en/api/messages

const anthropicError = (status: number, type: string, message: string) =>
  new Failure(status, { type: 'error', error: { type, message }, request_id: 'req_1' })

const textBlock = closed(
  { type: constant('text'), text: string, cache_control: closed({ type: constant('ephemeral') }) },
  ['type', 'text'],
)

const messageFault = checker(
  closed(
    {
      model: string,
      max_tokens: { type: 'integer', minimum: 1, maximum: 64_000 },
      system: { type: 'array', items: textBlock, maxItems: 4 },
      messages: list(
        closed({ role: constant('user'), content: { anyOf: [string, { type: 'array', items: textBlock }] } }),
      ),
      output_config: closed({ format: closed({ type: constant('json_schema'), schema: { type: 'object' } }) }),
    },
    ['model', 'max_tokens', 'messages'],
  ),
)

type MessageBody = {
  model: string
  system: Texts
  messages: { content: string | Texts }[]
  output_config?: { format: { schema: unknown } }
}

const messageOf = ({ body }: Incoming) => body as unknown as MessageBody

const stops = { whole: 'end_turn', cut: 'max_tokens', refused: 'refusal' }

const anthropic: StandIn = {
  check: (incoming) => {
    const { request, url } = incoming
    if (request.headers['x-api-key'] !== standInKey) {
      return anthropicError(401, 'authentication_error', 'invalid x-api-key')
    }
    if (request.headers['anthropic-version'] !== '2023-06-01') {
      return anthropicError(400, 'invalid_request_error', 'anthropic-version: header is required')
    }
    if (request.method === 'GET' && url.pathname === '/v1/models') return undefined
    if (request.method !== 'POST' || url.pathname !== '/v1/messages') {
      return anthropicError(404, 'not_found_error', 'Not found')
    }
    const schema = messageOf(incoming).output_config?.format.schema
    const refused = rejectedKeywords(schema)
    if (openObjects(schema).length > 0 || refused.length > 0) {
      return anthropicError(400, 'invalid_request_error', `output_config.format.schema: ${refused.join()}`)
    }
    const fault = isJson(incoming) ? messageFault(incoming.body) : 'content-type'
    return fault === undefined ? undefined : anthropicError(400, 'invalid_request_error', fault)
  },
  read: (incoming) => {
    const { model, system, messages, output_config } = messageOf(incoming)
    const user = messages.map(({ content }) => (typeof content === 'string' ? content : joined(content))).join('')
    return { model, system: joined(system), user, schema: output_config?.format.schema }
  },
  unknownModel: (model) => anthropicError(404, 'not_found_error', `model: ${model}`),
  write: ({ text: content, end, usage }, model) => ({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model,
    content: [{ type: 'text', text: content }],
    stop_reason: stops[end],
    stop_sequence: null,
    usage: {
      input_tokens: usage.input - usage.cachedInput - usage.cacheWrite,
      cache_creation_input_tokens: usage.cacheWrite,
      cache_read_input_tokens: usage.cachedInput,
      output_tokens: usage.output,
      service_tier: 'standard',
    },
  }),
  list: ({ url }) =>
    url.pathname === '/v1/models'
      ? {
          data: [
            { type: 'model', id: standInModel, display_name: 'Model A', created_at: '2026-01-01T00:00:00Z' },
            { type: 'model', id: 'model-b', display_name: 'Model B', created_at: '2026-01-01T00:00:00Z' },
          ],
          has_more: false,
          first_id: standInModel,
          last_id: 'model-b',
        }
      : undefined,
}

// Google: https://ai.google.dev/api/generate-content

const googleError = (code: number, status: string, message: string, reason?: string) =>
  new Failure(code, {
    error: {
      code,
      message,
      status,
      ...(reason && {
        details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: 'googleapis.com' }],
      }),
    },
  })

const parts = list(closed({ text: string }))
const heardParts = list({
  anyOf: [
    closed({ text: string }),
    closed({ inlineData: closed({ mimeType: constant('audio/wav'), data: { type: 'string', minLength: 1 } }) }),
  ],
})

const generateFault = checker(
  closed(
    {
      systemInstruction: closed({ parts }),
      contents: list(closed({ role: constant('user'), parts: heardParts })),
      generationConfig: closed({
        responseMimeType: constant('application/json'),
        responseJsonSchema: { type: 'object' },
      }),
    },
    ['contents'],
  ),
)

type GenerateBody = {
  systemInstruction: { parts: Texts }
  contents: { parts: ({ text: string } | { inlineData: { data: string } })[] }[]
  generationConfig?: { responseJsonSchema: unknown }
}

const generatePath = /^\/v1beta\/models\/([^/]+):generateContent$/
const reasons = { whole: 'STOP', cut: 'MAX_TOKENS', refused: 'SAFETY' }

const google: StandIn = {
  check: (incoming) => {
    const { request, url, body } = incoming
    if (request.headers['x-goog-api-key'] !== standInKey) {
      return googleError(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', 'API_KEY_INVALID')
    }
    if (request.method === 'GET' && url.pathname === '/v1beta/models') return undefined
    if (request.method !== 'POST' || !generatePath.test(url.pathname)) {
      return new Failure(404, '<html><title>Error 404 (Not Found)!!1</title></html>')
    }
    const fault = isJson(incoming) ? generateFault(body) : 'content-type'
    return fault === undefined ? undefined : googleError(400, 'INVALID_ARGUMENT', fault)
  },
  read: ({ url, body }) => {
    const { systemInstruction, contents, generationConfig } = body as unknown as GenerateBody
    return {
      model: decodeURIComponent(generatePath.exec(url.pathname)?.[1] ?? ''),
      system: joined(systemInstruction.parts),
      ...splitParts(
        contents.flatMap((content) =>
          content.parts.map((part) => ('text' in part ? part.text : Buffer.from(part.inlineData.data, 'base64'))),
        ),
      ),
      schema: generationConfig?.responseJsonSchema,
    }
  },
  unknownModel: (model) =>
    googleError(404, 'NOT_FOUND', `models/${model} is not found for API version v1beta, or is not supported.`),
  write: ({ text: content, end, usage }, model) => ({
    candidates: [
      {
        ...(end !== 'refused' && {
          content: { parts: [{ text: 'Let me see.', thought: true }, { text: content }], role: 'model' },
        }),
        finishReason: reasons[end],
        index: 0,
      },
    ],
    usageMetadata: {
      promptTokenCount: usage.input,
      candidatesTokenCount: usage.output - 1,
      thoughtsTokenCount: 1,
      totalTokenCount: usage.input + usage.output,
      ...(usage.cachedInput > 0 && { cachedContentTokenCount: usage.cachedInput }),
      promptTokensDetails: [
        { modality: 'TEXT', tokenCount: usage.input - (usage.audioInput ?? 0) },
        ...(usage.audioInput ? [{ modality: 'AUDIO', tokenCount: usage.audioInput }] : []),
      ],
    },
    modelVersion: model,
    responseId: 'response-1',
  }),
  list: ({ url }) =>
    url.pathname === '/v1beta/models'
      ? {
          models: [
            {
              name: `models/${standInModel}`,
              version: '001',
              displayName: 'Model A',
              inputTokenLimit: 1_048_576,
              outputTokenLimit: 65_536,
              supportedGenerationMethods: ['generateContent', 'countTokens'],
            },
            { name: 'models/model-b', displayName: 'Model B', supportedGenerationMethods: ['generateContent'] },
            { name: 'models/embedding', displayName: 'Embedding', supportedGenerationMethods: ['embedContent'] },
          ],
        }
      : undefined,
}

// Bedrock: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html

const bedrockError = (status: number, type: string, message: string) =>
  new Failure(
    status,
    { message },
    { 'x-amzn-errortype': `${type}:http://internal.amazon.com/coral/com.amazon.bedrock/` },
  )

const converseFault = checker(
  closed(
    {
      system: list({
        oneOf: [closed({ text: string }), closed({ cachePoint: closed({ type: constant('default') }) })],
      }),
      messages: list(closed({ role: constant('user'), content: list(closed({ text: string })) })),
      outputConfig: closed({
        textFormat: closed({
          type: constant('json_schema'),
          structure: closed({ jsonSchema: closed({ name: string, schema: string }) }),
        }),
      }),
    },
    ['messages'],
  ),
)

type ConverseBody = {
  system: (Texts[number] | { cachePoint: object })[]
  messages: { content: Texts }[]
  outputConfig?: { textFormat: { structure: { jsonSchema: { schema: string } } } }
}

const conversePath = /^\/model\/([^/]+)\/converse$/
const stopReasons = { whole: 'end_turn', cut: 'max_tokens', refused: 'guardrail_intervened' }

const isAuthorized = ({ request, raw }: Incoming): boolean => {
  if (request.headers.authorization === `Bearer ${standInKey}`) return true
  return signerOf(request, raw, { secretAccessKey: standInKey, region, service: 'bedrock' }) === accessKeyId
}

const bedrock: StandIn = {
  check: (incoming) => {
    const { request, url, body } = incoming
    if (!isAuthorized(incoming)) {
      return bedrockError(403, 'UnrecognizedClientException', 'The security token included in the request is invalid.')
    }
    if (request.method === 'GET' && /^\/(foundation-models|inference-profiles)$/.test(url.pathname)) return undefined
    if (request.method !== 'POST' || !conversePath.test(url.pathname)) {
      return bedrockError(404, 'UnknownOperationException', '')
    }
    const { outputConfig } = body as unknown as ConverseBody
    const schema = outputConfig && JSON.parse(outputConfig.textFormat.structure.jsonSchema.schema)
    if (openObjects(schema).length > 0) {
      return bedrockError(400, 'ValidationException', 'additionalProperties must be false for every object.')
    }
    const fault = isJson(incoming) ? converseFault(body) : 'content-type'
    return fault === undefined ? undefined : bedrockError(400, 'ValidationException', fault)
  },
  read: ({ url, body }) => {
    const { system, messages, outputConfig } = body as unknown as ConverseBody
    const schema = outputConfig?.textFormat.structure.jsonSchema.schema
    return {
      model: decodeURIComponent(conversePath.exec(url.pathname)?.[1] ?? ''),
      system: system.map((block) => ('text' in block ? block.text : '')).join(''),
      user: messages.map(({ content }) => joined(content)).join(''),
      schema: schema === undefined ? undefined : JSON.parse(schema),
    }
  },
  unknownModel: () => bedrockError(404, 'ResourceNotFoundException', 'Could not resolve the foundation model.'),
  write: ({ text: content, end, usage }) => ({
    output: { message: { role: 'assistant', content: [{ text: content }] } },
    stopReason: stopReasons[end],
    usage: {
      inputTokens: usage.input - usage.cachedInput - usage.cacheWrite,
      outputTokens: usage.output,
      totalTokens: usage.input + usage.output,
      cacheReadInputTokens: usage.cachedInput,
      cacheWriteInputTokens: usage.cacheWrite,
    },
    metrics: { latencyMs: 500 },
  }),
  list: ({ url }) => {
    if (url.pathname === '/inference-profiles') {
      const profile = { inferenceProfileId: 'eu.model-b', inferenceProfileName: 'EU Model B', status: 'ACTIVE' }
      return { inferenceProfileSummaries: [{ ...profile, type: 'SYSTEM_DEFINED' }] }
    }
    if (url.pathname !== '/foundation-models') return undefined
    const summary = { providerName: 'Anyone', inputModalities: ['TEXT'], outputModalities: ['TEXT'] }
    return {
      modelSummaries: [
        { ...summary, modelId: standInModel, modelName: 'Model A', inferenceTypesSupported: ['ON_DEMAND'] },
        { ...summary, modelId: 'model-b', modelName: 'Model B', inferenceTypesSupported: ['PROVISIONED'] },
      ],
    }
  },
}

// Ollama: https://docs.ollama.com/api/chat

const chatFault = checker(
  closed(
    {
      model: string,
      messages: list(closed({ role: { enum: ['system', 'user'] }, content: string })),
      stream: constant(false),
      format: { type: 'object' },
      options: closed({ num_ctx: { type: 'integer', minimum: 1 } }),
    },
    ['model', 'messages', 'stream'],
  ),
)

const ollama: StandIn = {
  check: ({ request, url, body }) => {
    if (request.method === 'GET' && url.pathname === '/api/tags') return undefined
    if (request.method !== 'POST' || url.pathname !== '/api/chat') return new Failure(404, '404 page not found')
    const fault = chatFault(body)
    return fault === undefined ? undefined : new Failure(400, { error: fault })
  },
  read: (incoming) => ({ ...readCompletion(incoming), schema: incoming.body.format }),
  unknownModel: (model) => new Failure(404, { error: `model '${model}' not found` }),
  write: ({ text: content, end, usage }, model) => ({
    model,
    created_at: '2026-01-01T00:00:00Z',
    message: { role: 'assistant', content },
    done: true,
    done_reason: end === 'cut' ? 'length' : 'stop',
    total_duration: 500_000_000,
    prompt_eval_count: usage.input,
    eval_count: usage.output,
  }),
  list: ({ url }) =>
    url.pathname === '/api/tags'
      ? { models: [standInModel, 'model-b'].map((name) => ({ name, model: name, size: 1, digest: 'd' })) }
      : undefined,
}

const standIns: Record<ProviderKind, StandIn> = {
  'openai-compatible': openai,
  anthropic,
  google,
  'azure-openai': azure,
  bedrock,
  ollama,
}

const send = (response: ServerResponse, value: object): void => {
  if (value instanceof Lines) {
    response.writeHead(200, { 'content-type': 'application/x-ndjson' }).end(value.text)
    return
  }
  if (!(value instanceof Failure)) {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))
    return
  }
  const body = typeof value.body === 'string' ? value.body : JSON.stringify(value.body)
  response.writeHead(value.status, value.headers).end(body)
}

const usualUsage: Usage = { input: 1_000, output: 100, cachedInput: 0, cacheWrite: 0 }

const authorization: Partial<Record<ProviderKind, Record<string, string>>> = {
  'openai-compatible': { authorization: `Bearer ${standInKey}` },
  'azure-openai': { 'api-key': standInKey },
  anthropic: { 'x-api-key': standInKey, 'anthropic-version': '2023-06-01' },
}

/** Starts a stand-in for a provider, which knows one model, and answers as `answering` decides. */
export const serveProvider = async (
  kind: ProviderKind,
  answering: Answering,
  whenOver?: Parameters<typeof serve>[1],
) => {
  const { check, read, unknownModel, write, list: listModels } = standIns[kind]
  const asked: Asked[] = []
  const requests: string[] = []
  const answerTo = async (incoming: Incoming): Promise<object> => {
    const failure = check(incoming)
    if (failure) return failure
    const models = incoming.request.method === 'GET' ? listModels(incoming) : undefined
    if (models) return models
    const { request, body } = incoming
    const question = read(incoming)
    if (!question) return new Failure(404)
    if (question.model !== standInModel) return unknownModel(question.model)
    const one = { kind, ...question, path: request.url ?? '', headers: request.headers, body }
    asked.push(one)
    const reply = await answering(one, asked.length)
    if (reply instanceof Failure) return reply
    return write({ end: 'whole', ...reply, usage: { ...usualUsage, ...reply.usage } }, question.model)
  }
  const chatPaths: Partial<Record<ProviderKind, string>> = {
    'openai-compatible': '/v1/chat/completions',
    'azure-openai': '/openai/v1/chat/completions',
    anthropic: '/v1/messages',
  }
  /** Answers a request of a batch as if it had been sent by itself. */
  const answerLine = async (body: Record<string, unknown>): Promise<object | undefined> => {
    const url = new URL(chatPaths[kind] ?? '', 'http://local')
    const headers = { ...authorization[kind], 'content-type': 'application/json' }
    const request = { method: 'POST', url: url.pathname, headers } as unknown as IncomingMessage
    const answer = await answerTo({ request, url, raw: JSON.stringify(body), body })
    return answer instanceof Failure ? undefined : answer
  }
  const { control: batches, answer: answerAboutBatch } = openBatchStandIn(kind, answerLine)
  const isAllowed = ({ headers }: IncomingMessage): boolean =>
    Object.entries(authorization[kind] ?? {}).every(([name, value]) => headers[name] === value)
  /** Returns undefined if the request is not about batches. */
  const answerAboutBatches = async (request: IncomingMessage, url: URL, raw: string): Promise<object | undefined> => {
    if (!isAllowed(request)) return undefined
    const answer = await answerAboutBatch({ method: request.method ?? '', url, headers: request.headers, raw })
    if (answer === 'failure') return new Failure(500)
    return answer === null ? new Failure(404) : answer
  }
  const server = await serve(async (request, response) => {
    const raw = await text(request)
    requests.push(`${request.method} ${request.url}`)
    const url = new URL(request.url ?? '', 'http://local')
    const aboutBatches = await answerAboutBatches(request, url, raw)
    if (aboutBatches) return send(response, aboutBatches)
    const body = raw === '' ? {} : JSON.parse(raw)
    send(response, await answerTo({ request, url, raw, body }))
  }, whenOver)
  /** Returns the settings with which requests reach the stand-in. */
  const settingsOf = () => {
    const common = { baseUrl: kind === 'openai-compatible' ? `${server.url}/v1` : server.url, model: standInModel }
    if (kind === 'ollama') return common
    if (kind !== 'bedrock') return { ...common, apiKey: standInKey }
    return { ...common, region, accessKeyId, secretAccessKey: standInKey }
  }
  return { ...server, asked, requests, batches, settings: settingsOf() }
}
