import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyInstance, FastifyRequest } from 'fastify'

/** Compresses JSON responses if the client accepts it. Files and streams are sent unchanged. */

/** The length is in bytes. A shorter response fits into a single packet. */
const worthPacking = 1_024
/** At level 4, brotli is as fast as gzip at its default level, and the result is smaller. */
const brotliQuality = 4

export type Encoding = 'br' | 'gzip'

const refuses = (accepted: string, name: string): boolean =>
  new RegExp(`\\b${name}\\s*;\\s*q=0(?:\\.0+)?\\s*(?:,|$)`).test(accepted)

const encodings = ['br', 'gzip'] as const

/** Returns the encodings that the client accepts, best first. */
export const acceptedEncodings = ({ headers }: FastifyRequest): Encoding[] => {
  const accepted = String(headers['accept-encoding'] ?? '').toLowerCase()
  return encodings.filter((name) => new RegExp(`\\b${name}\\b`).test(accepted) && !refuses(accepted, name))
}

export const pack = (encoding: Encoding, text: string, quality = brotliQuality): Promise<Buffer> => {
  if (encoding === 'gzip') return promisify(gzip)(text)
  const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_MODE, BROTLI_MODE_TEXT } = constants
  const params = { [BROTLI_PARAM_QUALITY]: quality, [BROTLI_PARAM_MODE]: BROTLI_MODE_TEXT }
  return promisify(brotliCompress)(text, { params })
}

export const addCompression = (app: FastifyInstance): void => {
  app.addHook('onSend', (request, reply, payload, done) => {
    const isJson = typeof payload === 'string' && String(reply.getHeader('content-type')).startsWith('application/json')
    // The length of a compressed response could reveal a secret that it contains.
    if (!isJson || payload.length < worthPacking || request.url.startsWith('/auth/')) return done(null, payload)
    reply.header('vary', 'accept-encoding')
    const [encoding] = reply.hasHeader('content-encoding') ? [] : acceptedEncodings(request)
    if (!encoding) return done(null, payload)
    pack(encoding, payload).then((packed) => {
      reply.header('content-encoding', encoding).removeHeader('content-length')
      done(null, packed)
    }, done)
  })
}
