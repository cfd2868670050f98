import Type, { type Static, type TObject, type TProperties, type TSchema } from 'typebox'
import { instantKeyword } from '../json-schema.ts'

/** Schemas that all resources share. */

/**
 * Returns the schema of an object that rejects unlisted properties. With a title, it becomes a component of the OpenAPI
 * document.
 */
export const Closed = <P extends TProperties>(properties: P, options: Record<string, unknown> = {}): TObject<P> =>
  Type.Object(properties, { additionalProperties: false, ...options })

/**
 * Returns a schema that also allows null. It uses a list of types, which is simpler to validate, serialize, and read
 * than a union.
 */
export const Nullable = <T extends TSchema>(schema: T) => {
  const { type } = schema as { type?: unknown }
  if (typeof type !== 'string') throw new Error('Nullable takes a schema of a single type')
  const choices = (schema as { enum?: unknown[] }).enum
  return Type.Unsafe<Static<T> | null>({
    ...schema,
    type: [type, 'null'],
    ...(choices && { enum: [...choices, null] }),
  })
}

export const Choice = <const V extends string>(values: readonly V[], options: Record<string, unknown> = {}) =>
  Type.Unsafe<V>({ type: 'string', enum: [...values], ...options })

export const Id = Type.String({ format: 'uuid', examples: ['0197a3b0-5e1c-7c3a-9a59-3f1f0c2d4e5f'] })

const idPattern = '[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}'

/** Matches `providerId/model`. */
export const providerModelPattern = `^${idPattern}/[\\x21-\\x7e]{1,200}$`

/** A model from one of the organization's providers. */
export const ProviderModel = Type.String({
  pattern: providerModelPattern,
  examples: ['0197a3b0-5e1c-7c3a-9a59-3f1f0c2d4e5f/whisper-1'],
})

/** The channel of a recording. Numbers start at 0. */
export const RecordingChannel = Type.Unsafe<0 | 1>({ type: 'integer', enum: [0, 1], examples: [1] })

/** A time in a response. It is a Date in code, and ISO 8601 in UTC with milliseconds in JSON. */
export const Timestamp = Type.Unsafe<Date>({
  type: 'string',
  format: 'date-time',
  examples: ['2026-11-21T09:30:00.000Z'],
})

/** A time in a request, which can have any offset. */
export const TimestampInput = Type.String({
  format: 'date-time',
  [instantKeyword]: true,
  examples: ['2026-11-21T10:30:00+01:00'],
})

/** A name that people choose. */
export const Name = Type.String({ minLength: 1, maxLength: 255, pattern: '\\S' })

export const Email = Type.String({ format: 'email', maxLength: 254, examples: ['ada@example.com'] })

/** An optional empty body: either `{}` or no body, which validation reads as null. */
export const NoBody = Type.Unsafe<unknown>({
  type: ['object', 'null'],
  properties: {},
  additionalProperties: false,
})

/** A body without a JSON schema: raw bytes, or another service's JSON with any properties. */
export const RawBody = Type.Unsafe<Buffer>({})

/** A response without content. Handlers send undefined with 204, because null would be sent as the text `null`. */
export const Empty = Type.Unsafe<null | undefined>({ type: 'null' })

export const NoQuery = Closed({})

/** A query with any parameters, because senders from other services add their own. */
export const AnyQuery = Type.Object({}, { additionalProperties: true })

export const IdParams = Closed({ id: Id })

export const PageQuery = Closed({
  limit: Type.Integer({ minimum: 1, maximum: 200, default: 50, description: 'The number of items per page.' }),
  cursor: Type.Optional(
    Type.String({ minLength: 1, maxLength: 1_000, description: 'The `nextCursor` of the previous page.' }),
  ),
})

export const Page = <T extends TSchema>(item: T) =>
  Closed({
    data: Type.Array(item),
    nextCursor: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'Send it as `cursor` to get the next page. Null on the last page.',
    }),
  })

const ErrorBody = Closed(
  {
    error: Type.String({ description: 'A short, stable phrase.', examples: ['validation failed'] }),
    message: Type.String({ description: 'What happened and what to do.', examples: ['name must be a string'] }),
    details: Type.Optional(
      Type.Unsafe<Record<string, unknown>>({
        type: 'object',
        additionalProperties: true,
        description: '`issues` lists every problem as `{path, message}`.',
      }),
    ),
  },
  { title: 'Error' },
)

/** The response headers with a meaning that goes beyond HTTP. */
const headers = {
  Location: 'The address of the resource, or the redirect’s target.',
  'Retry-After': 'How many seconds to wait before retrying.',
  'Idempotent-Replayed': '`true` if an earlier request with this `operationId` created the export.',
  'Repr-Digest': 'The SHA-256 digest of the whole file, if known (RFC 9530).',
  'X-File-Digest': 'The file’s SHA-256 digest.',
} as const

type HeaderName = keyof typeof headers

const headersOf = (names: HeaderName[]) =>
  Object.fromEntries(names.map((name) => [name, { type: 'string', description: headers[name] }]))

/** Adds headers to a response in the document. They replace the headers that all responses with this status have. */
export const withHeaders = <T extends TSchema>(schema: T, ...names: HeaderName[]): T => ({
  ...schema,
  headers: headersOf(names),
})

const errorDescriptions = {
  400: 'The request is invalid. `details.issues` lists every problem.',
  401: 'The key is missing, unknown, expired, or revoked.',
  403: 'The key’s role or the organization’s features do not allow this.',
  404: 'Not found in this organization.',
  409: 'The current state does not allow this.',
  410: 'The link has expired.',
  429: 'Too many requests. Wait for the time in `Retry-After`.',
  503: 'Disabled or temporarily unavailable.',
} as const

const successDescriptions = {
  200: 'Success.',
  201: 'Created. `Location` is its address.',
  202: 'Accepted. The work continues in the background.',
  204: 'Success, without content.',
  302: 'A redirect to the address in `Location`, without content.',
} as const

/** The headers for all responses with a given status. */
const headersOfStatus: Partial<Record<string, HeaderName[]>> = {
  201: ['Location'],
  302: ['Location'],
  429: ['Retry-After'],
  503: ['Retry-After'],
  default: ['Retry-After'],
}

const statusHeaders = (status: number | string) => {
  const names = headersOfStatus[status]
  return names && { headers: headersOf(names) }
}

type Success = keyof typeof successDescriptions

type Answers<S, E extends number> = S & { [Status in E | 'default']: typeof ErrorBody }

/** Returns the responses of an operation: success, its own errors by status, and the default for common errors. */
export const answers = <S extends { [Status in Success]?: TSchema }, E extends keyof typeof errorDescriptions>(
  successes: S,
  ...errors: E[]
): Answers<S, E> =>
  ({
    ...Object.fromEntries(
      Object.entries(successes).map(([status, schema]) => [
        status,
        { description: successDescriptions[Number(status) as Success], ...statusHeaders(status), ...schema },
      ]),
    ),
    ...Object.fromEntries(
      errors.map((status) => [
        status,
        { ...ErrorBody, ...statusHeaders(status), description: errorDescriptions[status] },
      ]),
    ),
    default: {
      ...ErrorBody,
      ...statusHeaders('default'),
      description:
        'Errors that any operation can return: malformed request, 403 (suspended, role, or kind of key), 405, 413, ' +
        '415, 416, 429, 431, 500, 503.',
    },
    // The keys are exactly the given ones, but TypeScript can't infer that from fromEntries.
  }) as unknown as Answers<S, E>
