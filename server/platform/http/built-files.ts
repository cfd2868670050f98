// Files that a build has made, kept in memory: sent again only if they changed, and compressed to those who take that.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from './http.ts'

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.woff2': 'font/woff2',
}

export type BuiltFile = { type: string; content: Buffer; brotli: Buffer | undefined; etag: string }

const readBuiltFile = (path: string): BuiltFile => {
  const content = readFileSync(path)
  return {
    content,
    type: types[extname(path)] ?? 'application/octet-stream',
    brotli: existsSync(`${path}.br`) ? readFileSync(`${path}.br`) : undefined,
    etag: createHash('sha256').update(content).digest('base64url'),
  }
}

const isKnown = (header: string | undefined, etag: string) =>
  header?.split(',').some((tag) => ['*', etag].includes(tag.trim().replace(/^W\//, ''))) === true

const acceptsBrotli = ({ headers }: FastifyRequest) =>
  /\bbr\b(?!\s*;\s*q=0(\.0+)?\s*(,|$))/.test(String(headers['accept-encoding']))

export const sendBuiltFile = (request: FastifyRequest, reply: FastifyReply, file: BuiltFile, cacheControl: string) => {
  const brotli = acceptsBrotli(request) ? file.brotli : undefined
  const etag = `"${file.etag}${brotli ? '-br' : ''}"`
  reply.headers({ 'cache-control': cacheControl, etag, vary: 'accept-encoding' })
  if (isKnown(request.headers['if-none-match'], etag)) return reply.code(304).send()
  if (brotli) reply.header('content-encoding', 'br')
  return reply.type(file.type).send(brotli ?? file.content)
}

/** Of what a build has made, by their names in its folder; none if it has not run. */
export const readBuiltFiles = (folder: string): Map<string, BuiltFile> => {
  if (!existsSync(folder)) return new Map()
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => extname(name) in types)
  return new Map(names.map((name) => [name.replaceAll('\\', '/'), readBuiltFile(join(folder, name))]))
}

/** A page for anyone, without a key. */
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
