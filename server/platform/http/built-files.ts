// Serves built files from memory. Files are only sent again if they have changed, and compressed if the client accepts
// it.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { acceptedEncodings, type Encoding, pack } from './compression.ts'
import type { App } from './http.ts'

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.woff2': 'font/woff2',
}

export type BuiltFile = {
  type: string
  content: Buffer
  packed: Partial<Record<Encoding, Buffer>>
  etag: string
}

const etagOf = (content: Buffer) => createHash('sha256').update(content).digest('base64url')

/** Returns a file that was created at run time. It is compressed once for all requests. */
export const packFile = async (type: string, text: string): Promise<BuiltFile> => {
  const [br, gzip] = await Promise.all([pack('br', text, 9), pack('gzip', text)])
  const content = Buffer.from(text)
  return { type, content, packed: { br, gzip }, etag: etagOf(content) }
}

const readBuiltFile = (path: string): BuiltFile => {
  const content = readFileSync(path)
  const packed: BuiltFile['packed'] = {}
  if (existsSync(`${path}.br`)) packed.br = readFileSync(`${path}.br`)
  if (existsSync(`${path}.gz`)) packed.gzip = readFileSync(`${path}.gz`)
  return {
    content,
    packed,
    type: types[extname(path)] ?? 'application/octet-stream',
    etag: etagOf(content),
  }
}

const isKnown = (header: string | undefined, etag: string) =>
  header?.split(',').some((tag) => ['*', etag].includes(tag.trim().replace(/^W\//, ''))) === true

export const sendBuiltFile = (request: FastifyRequest, reply: FastifyReply, file: BuiltFile, cacheControl: string) => {
  const encoding = acceptedEncodings(request).find((name) => file.packed[name])
  const etag = `"${file.etag}${encoding ? `-${encoding}` : ''}"`
  reply.headers({ 'cache-control': cacheControl, etag, vary: 'accept-encoding' })
  if (isKnown(request.headers['if-none-match'], etag)) return reply.code(304).send()
  if (encoding) reply.header('content-encoding', encoding)
  return reply.type(file.type).send(encoding ? file.packed[encoding] : file.content)
}

/** Returns the built files by name, or none if nothing was built. */
export const readBuiltFiles = (folder: string): Map<string, BuiltFile> => {
  if (!existsSync(folder)) return new Map()
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => extname(name) in types)
  return new Map(names.map((name) => [name.replaceAll('\\', '/'), readBuiltFile(join(folder, name))]))
}

/** Adds a public page, which anyone can open without a key. */
export const addPage = (
  app: App,
  url: string,
  answer: (request: FastifyRequest, reply: FastifyReply) => FastifyReply,
) =>
  app.route({
    method: ['GET', 'HEAD'],
    url,
    config: { access: 'public' },
    schema: { hide: true },
    handler: async (request, reply) => answer(request, reply),
  })
