import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../../config.ts'
import type { Log } from '../log.ts'
import type { App } from './http.ts'

type Storage = Pick<Config, 'storage' | 's3Endpoint'>

/** Recordings behind signed links come from the bucket itself, whose host AWS decides on. */
const mediaSources = ({ storage, s3Endpoint }: Storage) =>
  storage.kind === 's3' ? ` https:${s3Endpoint?.startsWith('http:') ? ` ${new URL(s3Endpoint).origin}` : ''}` : ''

/**
 * Everything comes from this origin, and nothing stands in the page itself: no inline script, style or image. Logos alone
 * come from where their companies keep them, and recordings from where the operator does.
 */
const policyOf = (storage: Storage) =>
  [
    "default-src 'none'",
    ...["script-src 'self'", "style-src 'self'", "connect-src 'self'", "font-src 'self'"],
    ...["img-src 'self' https: blob:", `media-src 'self' blob:${mediaSources(storage)}`, "manifest-src 'self'"],
    ...["form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'"],
  ].join('; ')

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
  '.woff2': 'font/woff2',
}

/** The first part of the address of each page; what comes after it is read in the browser. */
const places = [
  ...['agents', 'buckets', 'companies', 'conversations', 'experiments', 'exports', 'findings', 'monitors', 'outside'],
  ...['review', 'settings', 'sign-in', 'start', 'welcome'],
]

const pages = ['/', ...places.flatMap((place) => [`/${place}`, `/${place}/*`])]

const folder = join(import.meta.dirname, '../../../dist/console')

type File = { type: string; content: Buffer; brotli: Buffer | undefined; etag: string }

const readFile = (path: string): File => {
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

const send = (request: FastifyRequest, reply: FastifyReply, file: File, cacheControl: string) => {
  const brotli = acceptsBrotli(request) ? file.brotli : undefined
  const etag = `"${file.etag}${brotli ? '-br' : ''}"`
  reply.headers({ 'cache-control': cacheControl, etag, vary: 'accept-encoding' })
  if (isKnown(request.headers['if-none-match'], etag)) return reply.code(304).send()
  if (brotli) reply.header('content-encoding', 'br')
  return reply.type(file.type).send(brotli ?? file.content)
}

/**
 * The console, as `npm run build` has made it. Browsers ask each time whether the page has changed, so a new version
 * shows at once; what the page loads has its hash in its name and is kept.
 */
export const addPages = (app: App, { config, log }: { config: Storage; log: Log }): void => {
  if (!existsSync(join(folder, 'index.html'))) {
    log.warn('the console is not built and is not served; npm run build makes it')
    return
  }
  const add = (url: string, answer: (request: FastifyRequest, reply: FastifyReply) => FastifyReply) =>
    app.route({
      method: ['GET', 'HEAD'],
      url,
      config: { access: 'public' },
      schema: { hide: true },
      handler: async (request, reply) => answer(request, reply),
    })
  const index = readFile(join(folder, 'index.html'))
  const policy = policyOf(config)
  for (const url of pages) {
    add(url, (request, reply) => send(request, reply.header('content-security-policy', policy), index, 'no-cache'))
  }
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  for (const name of names.filter((path) => extname(path) in types && path !== 'index.html')) {
    const file = readFile(join(folder, name))
    const kept = name.startsWith('assets') ? 'public, max-age=31536000, immutable' : 'no-cache'
    add(`/console/${name.replaceAll('\\', '/')}`, (request, reply) => send(request, reply, file, kept))
  }
}
