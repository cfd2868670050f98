import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify'
import { ApiError } from '../errors.ts'
import { openByteCollector } from './byte-collector.ts'
import { readJson, readJsonList, unsoundParts } from './json/read.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The body limit for this request, if its route has a higher one. */
    maxBodyBytes: number
    /** Set before the body is read, if the handler reads the body as a stream and limits its size. */
    streamsBody: boolean
  }
}

const refused = (message: string) => new ApiError('invalid', message, { issues: [{ path: '', message }] })

/** A `stream` is passed to the handler as it arrives, and only the handler limits its size. */
const mediaTypes = {
  json: { form: /^application\/json\s*(?:;\s*charset="?utf-8"?\s*)?$/i, name: 'application/json', as: 'json' },
  image: { form: /^image\/[\w.+-]+\s*$/i, name: 'image/*', as: 'bytes' },
  audio: { form: /^audio\/[\w.+-]+\s*(?:;.*)?$/i, name: 'audio/*', as: 'stream' },
  /** The route accepts any content type, because the signature covers the raw bytes. */
  bytes: { form: /^/, name: '*/*', as: 'bytes' },
  ndjson: {
    form: /^application\/x-ndjson\s*(?:;\s*charset="?utf-8"?\s*)?$/i,
    name: 'application/x-ndjson',
    as: 'stream',
  },
} as const

type MediaType = keyof typeof mediaTypes

/** A `batch` is a JSON body with many items, or JSON Lines with one item per line. */
export type BodyKind = Exclude<MediaType, 'ndjson'> | 'batch'

const mediaTypesOf = (kind: BodyKind): MediaType[] => (kind === 'batch' ? ['json', 'ndjson'] : [kind])

export const mediaTypeNames = (kind: BodyKind): string[] => mediaTypesOf(kind).map((type) => mediaTypes[type].name)

const mediaTypeOf = (request: FastifyRequest): MediaType | undefined => {
  const given = request.headers['content-type'] ?? ''
  return mediaTypesOf(request.routeOptions.config.takes ?? 'json').find((type) => mediaTypes[type].form.test(given))
}

const bodyless = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE'])

/** Throws before the body is read if the route does not accept its content type. */
export const checkMediaType = (request: FastifyRequest): void => {
  const { headers, method } = request
  const length = headers['content-length']
  const empty = headers['transfer-encoding'] === undefined && (length === undefined || length === '0')
  const kind = request.routeOptions.config.takes ?? 'json'
  if (empty && (method === 'GET' || kind === 'json')) return
  if (!empty && bodyless.has(method)) throw refused(`${method} requests to this path have no body.`)
  if (mediaTypeOf(request) === undefined) {
    throw new ApiError('unsupportedMediaType', `Send the body with Content-Type: ${mediaTypeNames(kind).join(' or ')}.`)
  }
  const encoding = encodingOf(request)
  if (encoding === 'identity' || (encoding === 'gzip' && mayBePacked(request)) || signsBytes(request)) return
  const allowed = mayBePacked(request) ? 'plain, or with Content-Encoding: gzip' : 'without Content-Encoding'
  throw new ApiError('unsupportedMediaType', `Send the body ${allowed}.`)
}

const encodingOf = ({ headers }: FastifyRequest): string =>
  headers['content-encoding']?.trim().toLowerCase() || 'identity'

/** Returns whether a signature covers the raw bytes, as for webhooks of other services. */
const signsBytes = ({ routeOptions: { config } }: FastifyRequest): boolean =>
  config.takes === 'bytes' && config.access === 'public'

/** Returns whether the body may be compressed. Images and recordings already are compressed. */
const mayBePacked = (request: FastifyRequest): boolean => {
  const { takes = 'json' } = request.routeOptions.config
  return takes !== 'image' && takes !== 'audio' && !signsBytes(request)
}

/** Decompresses a body. The decompressed bytes count against the body's limits, chunk by chunk. */
const inflate = (payload: Readable): Readable => {
  const inflated = createGunzip()
  // Nobody reads a rejected body or handles its errors, but these errors must not end the process.
  inflated.on('error', () => {})
  payload.once('error', (error) => inflated.destroy(error))
  return payload.pipe(inflated)
}

/** Throws if the path or query contains text that can't be stored. Such text is always percent-encoded. */
export const checkUrlText = (request: FastifyRequest): void => {
  if (!request.url.includes('%')) return
  const issues = [...unsoundParts(request.params), ...unsoundParts(request.query)]
  if (issues.length > 0) throw new ApiError('invalid', 'The URL contains text that cannot be stored.', { issues })
}

/**
 * The limit is low because anyone can call these routes. Their bodies contain an email address, a password, or a token.
 */
const signInBytes = 8 * 1024

export const limitSignIn = (route: RouteOptions): void => {
  if (route.url.startsWith('/auth/')) route.bodyLimit = signInBytes
}

/** Reads and discards the remaining data of a rejected body, so that the connection can be reused. */
const drop = (request: FastifyRequest, stream: Readable): void => {
  if (stream !== request.raw) stream.destroy()
  request.raw.resume()
}

const readBytes = (request: FastifyRequest, stream: Readable): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const limit = Math.min(request.routeOptions.bodyLimit, request.maxBodyBytes)
    const body = openByteCollector()
    const { arriving } = request
    const refuse = (error: ApiError) => {
      stream.off('data', take)
      body.take()
      drop(request, stream)
      reject(error)
    }
    const tooLarge = () => new ApiError('tooLarge', 'The body exceeds the size limit of this operation.')
    const take = (piece: Buffer) => {
      if (body.add(piece) > limit) return refuse(tooLarge())
      try {
        arriving?.hold(piece.length)
      } catch (error) {
        refuse(error as ApiError) // All values that are thrown here are of this type.
      }
    }
    if (Number(request.headers['content-length']) > limit) return refuse(tooLarge())
    if (arriving) arriving.onTooSlow = refuse
    stream.on('data', take)
    stream.once('end', () => resolve(body.take()))
    stream.once('error', (error: NodeJS.ErrnoException) =>
      reject(error.code?.startsWith('Z_') ? error : refused('The body is incomplete. Send it again.')),
    )
  })

const readDocument = (
  { routeOptions: { config } }: FastifyRequest,
  bytes: Buffer,
  itemBytes: number,
): Promise<unknown> => {
  const { list, apart, foreign } = config
  const reading = { apart, isForeign: foreign }
  return list
    ? readJsonList(bytes, { ...reading, list, mostItems: mostListItems, itemBytes })
    : readJson(bytes, reading)
}

/** The maximum number of items in the JSON form of a batch. */
const mostListItems = 1_000

export const addBodyParser = (app: FastifyInstance, { documentBytes }: { documentBytes: number }): void => {
  app.decorateRequest('maxBodyBytes', Number.POSITIVE_INFINITY)
  app.decorateRequest('streamsBody', false)
  app.addHook('preParsing', (request, _reply, payload, done) => {
    const isPacked = encodingOf(request) === 'gzip' && mayBePacked(request)
    done(null, isPacked ? inflate(payload as Readable) : payload)
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', async (request: FastifyRequest, stream: Readable) => {
    if (request.streamsBody) return stream
    const bytes = await readBytes(request, stream)
    if (mediaTypes[mediaTypeOf(request) ?? 'json'].as === 'bytes') return bytes
    if (bytes.length === 0) return undefined
    const value = await readDocument(request, bytes, documentBytes)
    // Fastify would treat null as a missing body.
    if (value === null) throw refused('The body must be a JSON object.')
    return value
  })
  const handOn = async (request: FastifyRequest, stream: Readable) => {
    if (mediaTypes[mediaTypeOf(request) ?? 'json'].as === 'stream') return stream
    throw new ApiError('unsupportedMediaType', 'This Content-Type is not supported here.')
  }
  app.addContentTypeParser(/^audio\//i, handOn)
  app.addContentTypeParser(/^application\/x-ndjson/i, handOn)
}
