import { isUtf8 } from 'node:buffer'
import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ApiError, type Issue } from '../errors.ts'
import { openGather } from './gather.ts'
import { maxIssues } from './validation.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Of this request's body, where its route's limit is higher. */
    maxBodyBytes: number
  }
}

/** No published body nests deeper than a rich-text document; beyond this, serializers and PostgreSQL recurse. */
const maxDepth = 64

const refused = (message: string) => new ApiError('invalid', message, { issues: [{ path: '', message }] })

/** How deep the brackets of a JSON text nest. */
const depthOf = (text: string): number => {
  let depth = 0
  let deepest = 0
  let inString = false
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i)
    if (inString) {
      if (char === 0x5c) i++
      else if (char === 0x22) inString = false
    } else if (char === 0x22) inString = true
    else if (char === 0x7b || char === 0x5b) deepest = Math.max(deepest, ++depth)
    else if (char === 0x7d || char === 0x5d) depth--
  }
  return deepest
}

const isSound = (text: string): boolean => !text.includes('\0') && text.isWellFormed()

/**
 * Every string and property name that PostgreSQL could not hold, with NUL or with half of a surrogate pair, and every
 * number that is none here.
 */
const unsoundParts = (value: unknown, path = ''): Issue[] => {
  const issues: Issue[] = []
  const visit = (part: unknown, at: string): void => {
    if (issues.length >= maxIssues) return
    if (typeof part === 'number') {
      if (!Number.isFinite(part)) issues.push({ path: at, message: 'must be a number below 1.8e308' })
    } else if (typeof part === 'string') {
      if (!isSound(part)) issues.push({ path: at, message: 'must not hold NUL or a lone surrogate' })
    } else if (Array.isArray(part)) {
      part.forEach((item, index) => {
        visit(item, `${at}[${index}]`)
      })
    } else if (typeof part === 'object' && part !== null) {
      for (const [name, item] of Object.entries(part)) {
        const inside = at === '' ? name : `${at}.${name}`
        if (!isSound(name))
          issues.push({ path: inside.toWellFormed(), message: 'is a name with NUL or a lone surrogate' })
        visit(item, inside)
      }
    }
  }
  visit(value, path)
  return issues
}

// Only these escapes can bring such text into JSON of valid UTF-8, and only such digits a number beyond all.
const suspicious = /\\u(?:0000|d[89a-f])|\d[eE]\+?\d{3}|(?<!\d)\d{309}/i
/** Zero as nobody stores it: told again it would pass for a change. */
const negativeZero = /[[:,]\s*-0/

/** Reads a JSON body, refusing what cannot be stored or would exhaust a stack, before any schema sees it. */
export const parseJson = (bytes: Buffer): unknown => {
  if (!isUtf8(bytes)) throw refused('The body is not valid UTF-8.')
  const text = bytes.toString('utf8')
  if (text.length > maxDepth * 2 && depthOf(text) > maxDepth) {
    throw refused(`The body nests deeper than ${maxDepth} levels.`)
  }
  let value: unknown
  try {
    value = negativeZero.test(text) ? JSON.parse(text, (_name, part) => (part === 0 ? 0 : part)) : JSON.parse(text)
  } catch (error) {
    throw refused(`The body is not valid JSON: ${(error as Error).message}.`)
  }
  if (suspicious.test(text)) {
    const issues = unsoundParts(value)
    if (issues.length > 0) throw new ApiError('invalid', 'Something in the body cannot be stored.', { issues })
  }
  return value
}

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

export const addBodyParser = (app: FastifyInstance): void => {
  app.decorateRequest('maxBodyBytes', Number.POSITIVE_INFINITY)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', async (request: FastifyRequest, stream: Readable) => {
    const bytes = await readBytes(request, stream)
    if (mediaTypes[mediaTypeOf(request) ?? 'json'].as === 'bytes') return bytes
    if (bytes.length === 0) return undefined
    const value = parseJson(bytes)
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
