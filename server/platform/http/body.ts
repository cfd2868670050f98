import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify'
import { ApiError } from '../errors.ts'
import { openGather } from './gather.ts'
import { readJson, readJsonList, unsoundParts } from './json/read.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Of this request's body, where its route's limit is higher. */
    maxBodyBytes: number
  }
}

const refused = (message: string) => new ApiError('invalid', message, { issues: [{ path: '', message }] })

/** `stream`: handed to the handler as it arrives, so that its size is bounded by the handler alone. */
const mediaTypes = {
  json: { form: /^application\/json\s*(?:;\s*charset="?utf-8"?\s*)?$/i, name: 'application/json', as: 'json' },
  image: { form: /^image\/[\w.+-]+\s*$/i, name: 'image/*', as: 'bytes' },
  audio: { form: /^audio\/[\w.+-]+\s*(?:;.*)?$/i, name: 'audio/*', as: 'stream' },
  /** Whatever a foreign sender says it is. */
  bytes: { form: /^/, name: '*/*', as: 'bytes' },
  ndjson: {
    form: /^application\/x-ndjson\s*(?:;\s*charset="?utf-8"?\s*)?$/i,
    name: 'application/x-ndjson',
    as: 'stream',
  },
} as const

type MediaType = keyof typeof mediaTypes

/** `batch`: a JSON body of many items, or a line of JSON for each. */
export type BodyKind = Exclude<MediaType, 'ndjson'> | 'batch'

const mediaTypesOf = (kind: BodyKind): MediaType[] => (kind === 'batch' ? ['json', 'ndjson'] : [kind])

export const mediaTypeNames = (kind: BodyKind): string[] => mediaTypesOf(kind).map((type) => mediaTypes[type].name)

const mediaTypeOf = (request: FastifyRequest): MediaType | undefined => {
  const given = request.headers['content-type'] ?? ''
  return mediaTypesOf(request.routeOptions.config.takes ?? 'json').find((type) => mediaTypes[type].form.test(given))
}

const bodyless = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE'])

/** Refuses a body that the route does not take, before it is read. */
export const checkMediaType = (request: FastifyRequest): void => {
  const { headers, method } = request
  const length = headers['content-length']
  const empty = headers['transfer-encoding'] === undefined && (length === undefined || length === '0')
  const kind = request.routeOptions.config.takes ?? 'json'
  if (empty && (method === 'GET' || kind === 'json')) return
  if (!empty && bodyless.has(method)) throw refused(`${method} takes no body.`)
  if (mediaTypeOf(request) === undefined) {
    throw new ApiError('unsupportedMediaType', `Send the body with Content-Type: ${mediaTypeNames(kind).join(' or ')}.`)
  }
  // Bytes are read by their handler, which knows what may be packed.
  if (kind === 'bytes') return
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity') {
    throw new ApiError('unsupportedMediaType', 'Send the body without Content-Encoding.')
  }
}

/** Path and query string hold such text only when it is percent-encoded. */
export const checkUrlText = (request: FastifyRequest): void => {
  if (!request.url.includes('%')) return
  const issues = [...unsoundParts(request.params), ...unsoundParts(request.query)]
  if (issues.length > 0) throw new ApiError('invalid', 'Text in the address cannot be stored.', { issues })
}

/** Anyone may call these, with an address, a password or a token. */
const signInBytes = 8 * 1024

export const limitSignIn = (route: RouteOptions): void => {
  if (route.url.startsWith('/auth/')) route.bodyLimit = signInBytes
}

const readBytes = (request: FastifyRequest, stream: Readable): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const limit = Math.min(request.routeOptions.bodyLimit, request.maxBodyBytes)
    const body = openGather()
    const refuse = () => {
      stream.off('data', take)
      reject(new ApiError('tooLarge', 'The body is larger than this operation takes.'))
    }
    const take = (piece: Buffer) => {
      if (body.add(piece) > limit) refuse()
    }
    if (Number(request.headers['content-length']) > limit) return refuse()
    stream.on('data', take)
    stream.once('end', () => resolve(body.take()))
    stream.once('error', () => reject(refused('The body did not arrive whole.')))
  })

const readDocument = ({ routeOptions: { config } }: FastifyRequest, bytes: Buffer): Promise<unknown> => {
  const { list, apart, foreign } = config
  const reading = { apart, isForeign: foreign }
  return list ? readJsonList(bytes, { ...reading, list, mostItems: mostListItems }) : readJson(bytes, reading)
}

/** What the JSON form of every batch takes. */
const mostListItems = 1_000

export const addBodyParser = (app: FastifyInstance): void => {
  app.decorateRequest('maxBodyBytes', Number.POSITIVE_INFINITY)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', async (request: FastifyRequest, stream: Readable) => {
    const bytes = await readBytes(request, stream)
    if (mediaTypes[mediaTypeOf(request) ?? 'json'].as === 'bytes') return bytes
    if (bytes.length === 0) return undefined
    const value = await readDocument(request, bytes)
    // What Fastify would hand on as if no body had been sent.
    if (value === null) throw refused('The body must be a JSON object.')
    return value
  })
  const handOn = async (request: FastifyRequest, stream: Readable) => {
    if (mediaTypes[mediaTypeOf(request) ?? 'json'].as === 'stream') return stream
    throw new ApiError('unsupportedMediaType', 'Send the body with another Content-Type.')
  }
  app.addContentTypeParser(/^audio\//i, handOn)
  app.addContentTypeParser(/^application\/x-ndjson/i, handOn)
}
