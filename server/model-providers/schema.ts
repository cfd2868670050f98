import Type, { type Static } from 'typebox'
import { Choice, Closed, Id, Name, Nullable, Timestamp } from '../platform/http/schemas.ts'
import { providerKinds, type ShownSettings } from './settings.ts'

const ProviderName = { ...Name, maxLength: 100, examples: ['Anthropic'] }

const settingsByKind =
  'Every kind: `model` (for judges that do not choose one) and `structuredOutput` (`schema`, the default, or `prompt` ' +
  'for models that do not support JSON schemas). openai-compatible: `baseUrl`, `apiKey`. anthropic: `apiKey`, `baseUrl`, ' +
  '`promptCaching`. google: `apiKey`, `baseUrl`. azure-openai: `baseUrl`, `apiKey`, `apiVersion`; the model is the ' +
  'deployment. bedrock: `region`, `accessKeyId` and `secretAccessKey` or `apiKey`, `baseUrl`, `promptCaching`. ollama: ' +
  '`baseUrl`, `apiKey`.'

const exampleSettings = { apiKey: 'sk-ant-0123456789abcdefghij', model: 'claude-sonnet-5' }

const SettingsInput = Type.Unsafe<ShownSettings>({
  type: 'object',
  additionalProperties: true,
  description: `Depends on the kind. ${settingsByKind}`,
  examples: [exampleSettings],
})

const Limit = (maximum: number, description: string) =>
  Type.Optional(Nullable(Type.Integer({ minimum: 1, maximum, description })))

const LimitsInput = Closed(
  {
    concurrency: Limit(1_000, 'Concurrent requests across all processes. Default: the operator’s limit.'),
    requestsPerMinute: Limit(1_000_000, 'Requests per minute. Default: no limit.'),
    tokensPerMinute: Limit(1_000_000_000, 'Input and output tokens per minute. Default: no limit.'),
    contextTokens: Limit(
      10_000_000,
      'The model’s context. Longer transcripts are read in windows. Default: the operator’s limit.',
    ),
    timeoutSeconds: Limit(3_600, 'How long a request can take. Default: the operator’s limit.'),
  },
  { examples: [{ requestsPerMinute: 500, tokensPerMinute: 200_000 }] },
)

const Effective = (description: string) => Type.Integer({ minimum: 1, description })
const Unlimited = (description: string) => Nullable(Type.Integer({ minimum: 1, description }))

const Limits = Closed({
  concurrency: Effective('Concurrent requests.'),
  requestsPerMinute: Unlimited('Null means no limit.'),
  tokensPerMinute: Unlimited('Null means no limit.'),
  contextTokens: Effective('Longer transcripts are read in windows.'),
  timeoutSeconds: Type.Number({ minimum: 0, description: 'How long a request can take.' }),
})

const Dollars = Type.Number({ minimum: 0, maximum: 1_000_000 })

const PriceInput = Closed({
  input: { ...Dollars, description: 'Per million input tokens.' },
  output: { ...Dollars, description: 'Per million output tokens.' },
  cachedInput: Type.Optional({
    ...Dollars,
    description: 'For input from the provider’s cache. Default: the input price.',
  }),
  cacheWrite: Type.Optional({
    ...Dollars,
    description: 'For input written to the cache. Default: the input price.',
  }),
  audioInput: Type.Optional({
    ...Dollars,
    description: 'For audio input, for judges that listen to recordings. Default: the input price.',
  }),
  batchDiscount: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 1,
      description: 'The batch discount, as a share of the price. Default: 0.5.',
    }),
  ),
  audioMinute: Type.Optional({
    ...Dollars,
    description: 'Per minute of audio, for models that transcribe recordings.',
  }),
})

const mostPrices = 200

const PricesInput = Type.Unsafe<Record<string, Static<typeof PriceInput>>>({
  type: 'object',
  additionalProperties: PriceInput,
  maxProperties: mostPrices,
  description: 'Prices in US dollars by model. They override the bundled table.',
  examples: [{ 'claude-sonnet-5': { input: 3, output: 15 } }],
})

const Price = Nullable(
  Closed(
    {
      input: Dollars,
      output: Dollars,
      cachedInput: Nullable(Dollars),
      cacheWrite: Nullable(Dollars),
      source: Choice(['provider', 'table'], {
        description: 'Whether the price is set for this provider or comes from the bundled table.',
      }),
    },
    { description: 'In US dollars per million tokens. If the price is unknown, it is null, and so are costs.' },
  ),
)

const Fallbacks = Type.Array(Id, {
  maxItems: 5,
  uniqueItems: true,
  description: 'Providers to use if this one fails, in order, each with its own default model.',
})

const statuses = ['active', 'disabled'] as const

export const ModelProvider = Closed(
  {
    id: Id,
    name: ProviderName,
    kind: Choice(providerKinds),
    settings: Type.Unsafe<ShownSettings>({
      type: 'object',
      additionalProperties: true,
      description: `Depends on the kind. ${settingsByKind} Keys are masked.`,
      examples: [{ apiKey: '…ghij', model: 'claude-sonnet-5' }],
    }),
    isDefault: Type.Boolean({ description: 'Whether judges without a model use this provider.' }),
    limits: Limits,
    prices: PricesInput,
    modelPrice: { ...Price, description: 'The price of the default model. If it is unknown, costs are null.' },
    fallbackProviderIds: Fallbacks,
    status: Choice(statuses, { description: 'disabled: nothing is sent to it.' }),
    failingSince: { ...Nullable(Timestamp), description: 'The first failed request since the last successful one.' },
    lastFault: Nullable(Type.String({ description: 'Why the latest request failed. Null if it succeeded.' })),
    createdByUserId: Id,
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { title: 'ModelProvider' },
)

export const ProviderCreate = Closed(
  {
    name: ProviderName,
    kind: Choice(providerKinds),
    settings: SettingsInput,
    isDefault: Type.Optional(
      Type.Boolean({
        description:
          'Makes this the default provider instead of the current one. If the operator configured no model, the ' +
          'first provider is the default.',
      }),
    ),
    limits: Type.Optional(LimitsInput),
    prices: Type.Optional(PricesInput),
    fallbackProviderIds: Type.Optional(Fallbacks),
  },
  { examples: [{ name: 'Anthropic', kind: 'anthropic', settings: exampleSettings }] },
)

export const ProviderUpdate = Closed(
  {
    name: Type.Optional(ProviderName),
    settings: Type.Optional({
      ...SettingsInput,
      description:
        'Replaces all settings. A key that is missing or masked keeps its value, unless the address changes. Null removes a key.',
    }),
    isDefault: Type.Optional(Type.Boolean()),
    limits: Type.Optional({ ...LimitsInput, description: 'Replaces all limits.' }),
    prices: Type.Optional({ ...PricesInput, description: 'Replaces all prices.' }),
    fallbackProviderIds: Type.Optional(Fallbacks),
    status: Type.Optional(Choice(statuses)),
  },
  { minProperties: 1, examples: [{ status: 'disabled' }] },
)

export const InstanceProvider = Closed(
  {
    kind: Choice(['openai-compatible', 'anthropic']),
    model: Nullable(Type.String()),
    isConfigured: Type.Boolean({ description: 'Whether the operator configured a model for judges.' }),
    isDefault: Type.Boolean({ description: 'Whether judges without a model use it.' }),
    limits: Limits,
    prices: PricesInput,
  },
  { title: 'InstanceModelProvider' },
)

export const ProviderTest = Closed(
  {
    model: Type.Optional(
      Type.String({ minLength: 1, maxLength: 200, description: 'Default: the provider’s default model.' }),
    ),
  },
  { examples: [{}] },
)

const testProblems = [
  'wrong_key',
  'no_access',
  'unknown_model',
  'wrong_address',
  'address_not_allowed',
  'unreachable',
  'timed_out',
  'too_many_requests',
  'no_credit',
  'rejected',
  'failing',
  'invalid_answer',
] as const

export type TestProblem = (typeof testProblems)[number]

export const TestResult = Closed(
  {
    ok: Type.Boolean(),
    problem: Nullable(Choice(testProblems)),
    message: Type.String({ examples: ['“claude-sonnet-5” answered in 812 ms.'] }),
    model: Nullable(Type.String()),
    durationMs: Type.Integer({ minimum: 0 }),
    tokens: Nullable(
      Closed(
        { input: Type.Integer({ minimum: 0 }), output: Type.Integer({ minimum: 0 }) },
        { description: 'What the test used. Null if the provider did not report it.' },
      ),
    ),
    cost: Nullable(Type.Number({ minimum: 0, description: 'In US dollars. Null if it is unknown.' })),
  },
  { title: 'ModelProviderTest' },
)

const Offered = Closed({
  id: Type.String({ description: 'The model’s name in requests to the provider.' }),
  name: Nullable(Type.String({ description: 'The provider’s display name for the model.' })),
  price: Price,
})

export const OfferedModels = Closed(
  {
    data: Type.Array(Offered),
    message: Nullable(Type.String({ description: 'Why the list is empty. Null if it is not empty.' })),
    priceTable: Closed(
      { source: Type.String(), date: Type.String({ format: 'date', examples: ['2026-09-23'] }) },
      { description: 'The bundled prices.' },
    ),
  },
  { title: 'OfferedModels' },
)

export const ModelChoices = Closed(
  {
    data: Type.Array(
      Closed({
        model: Type.String({
          description: 'The value for `model` in a judge’s definition: `providerId/model`, or `instance/model`.',
        }),
        name: Type.String({ description: 'The model’s name.' }),
        provider: Type.String({ description: 'The provider’s name.' }),
        isDefault: Type.Boolean({ description: 'Whether judges without a model use it.' }),
        price: Price,
      }),
    ),
  },
  { title: 'ModelChoices' },
)
