import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyReply } from 'fastify'
import parseRange from 'range-parser'
import Type from 'typebox'
import type { Blobs } from '../blobs/blobs.ts'
import { contentDisposition } from '../blobs/content-disposition.ts'
import type { OrgId } from '../db/database.ts'
import { ApiError, notFound } from '../errors.ts'
import { orgIdOf } from '../ids.ts'
import type { App } from './http.ts'
import { answers, Closed, NoQuery, withHeaders } from './schemas.ts'

/** The types that a browser plays or shows without running anything. All others are downloaded. */
const shownInPlace = /^(audio\/[\w.+-]+|image\/(png|jpeg|gif|webp))$/

type Span = { start: number; end: number }

/**
 * Returns the requested range of the file. If there are several ranges, returns undefined, so that the whole file is
 * sent, as HTTP allows.
 */
const readSpan = (header: string | undefined, totalBytes: number): Span | 'unsatisfiable' | undefined => {
  if (header === undefined) return undefined
  const ranges = parseRange(totalBytes, header)
  if (ranges === -1) return 'unsatisfiable'
  return ranges !== -2 && ranges.type === 'bytes' && ranges.length === 1 ? ranges[0] : undefined
}

/**
 * Returns the ETag of a file. The content under a key never changes, so the key identifies it. The key is hashed,
 * because it contains the organization.
 */
const tagOf = (key: string): string => `"${createHash('sha256').update(key).digest('base64url').slice(0, 22)}"`

/** Returns the Range header if it applies to this version of the file. */
const rangeOf = (headers: IncomingHttpHeaders, tag: string): string | undefined => {
  const ifRange = headers['if-range']
  return ifRange === undefined || ifRange === tag ? headers.range : undefined
}

type LinkPayload = Extract<ReturnType<Blobs['readLink']>, { payload: unknown }>['payload']

const readLink = (blobs: Blobs, token: string): LinkPayload => {
  const link = blobs.readLink(token)
  if (link.state === 'invalid')
    throw new ApiError('forbidden', 'This link is invalid: it was changed, or another service created it.')
  if (link.state === 'expired') throw new ApiError('gone', 'This link has expired. Request a new one.')
  return link.payload
}

const headersOf = ({ contentType, disposition, fileName }: LinkPayload, storedType: string) => {
  const type = contentType ?? storedType
  const inPlace = disposition === 'inline' && shownInPlace.test(type)
  return {
    'content-type': type,
    'accept-ranges': 'bytes',
    'content-security-policy': 'sandbox',
    'cross-origin-resource-policy': 'cross-origin',
    'content-disposition': contentDisposition(inPlace ? 'inline' : 'attachment', fileName),
  }
}

type FileOptions = {
  blobs: Blobs
  /** Returns whether the organization's files can currently be read. */
  isOpen: (org: OrgId) => Promise<boolean>
}

/** Serves stored files from sealed links. The link is the credential, and no key is read or logged. */
export const addFiles = (app: App, { blobs, isOpen }: FileOptions): void => {
  const requireOpen = async (key: string): Promise<void> => {
    // The key starts with the organization that owns the file.
    const isReadable = await isOpen(orgIdOf(key.slice(0, key.indexOf('/'))))
    if (!isReadable) throw new ApiError('forbidden', 'The organization is suspended.')
  }

  app.route({
    method: ['GET', 'HEAD'],
    url: '/files/:token',
    config: { access: 'public' },
    schema: {
      tags: ['Files'],
      operationId: 'getFile',
      summary: 'Download a file',
      description: 'Requires only the signed link, and supports byte ranges. Returns 410 after the link expires.',
      params: Closed({ token: Type.String({ minLength: 1, maxLength: 4_096 }) }),
      querystring: NoQuery,
      response: answers(
        { 200: withHeaders(Type.Unsafe<unknown>({ contentMediaType: '*/*' }), 'Repr-Digest') },
        404,
        410,
      ),
    },
    handler: async (request, reply) => {
      const payload = readLink(blobs, request.params.token)
      const { key, sha256 } = payload
      const isLasting = payload.expiresAt === null && !payload.erasable
      if (!isLasting) await requireOpen(key)
      const head = await blobs.head(key)
      if (!head) throw notFound()
      const tag = tagOf(key)
      reply
        .headers(headersOf(payload, head.contentType))
        .header('cache-control', isLasting ? 'public, max-age=31536000, immutable' : 'no-store')
        .header('etag', tag)
      if (request.headers['if-none-match'] === tag) return reply.code(304).send()
      const span = getSpan(reply, rangeOf(request.headers, tag), head.bytes)
      if (sha256) reply.header('repr-digest', `sha-256=:${sha256}:`)
      addLength(reply, span, head.bytes)
      if (request.method === 'HEAD') return reply.send()
      const content = await blobs.get(key, span)
      if (!content) throw notFound()
      return reply.send(content.stream)
    },
  })
}

const getSpan = (reply: FastifyReply, range: string | undefined, totalBytes: number): Span | undefined => {
  const span = readSpan(range, totalBytes)
  if (span !== 'unsatisfiable') return span
  reply.header('content-range', `bytes */${totalBytes}`)
  throw new ApiError('rangeNotSatisfiable', `The file has ${totalBytes} bytes. Request a range within it.`)
}

const addLength = (reply: FastifyReply, span: Span | undefined, totalBytes: number): void => {
  if (!span) {
    reply.header('content-length', totalBytes)
    return
  }
  const { start, end } = span
  reply.code(206).header('content-range', `bytes ${start}-${end}/${totalBytes}`)
  reply.header('content-length', end - start + 1)
}
