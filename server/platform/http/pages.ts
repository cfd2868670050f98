import { join } from 'node:path'
import type { Config } from '../config.ts'
import type { SessionCookie } from '../identity/session-cookie.ts'
import type { Log } from '../log.ts'
import { addPage, readBuiltFiles, sendBuiltFile } from './built-files.ts'
import type { App } from './http.ts'

type Storage = Pick<Config, 'storage' | 's3Endpoint'>

/** Recordings with signed links come from the bucket itself, whose host AWS chooses. */
const mediaSources = ({ storage, s3Endpoint }: Storage) =>
  storage.kind === 's3' ? ` https:${s3Endpoint?.startsWith('http:') ? ` ${new URL(s3Endpoint).origin}` : ''}` : ''

/**
 * Everything comes from this origin, and nothing is inline: no script, style, or image. Only logos come from their
 * companies'
 * URLs, and recordings from the operator's storage.
 */
const policyOf = (storage: Storage) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "font-src 'self'",
    "img-src 'self' https: blob:",
    `media-src 'self' blob:${mediaSources(storage)}`,
    "manifest-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ')

/** Pages that need no session. */
const publicSections = ['confirm-address', 'invitations', 'outside', 'sign-in', 'welcome']

/** The first path segment of each page. The browser reads the rest. */
const sections = [
  'agents',
  'alerts',
  'buckets',
  'companies',
  'conversations',
  'experiments',
  'exports',
  'findings',
  'monitors',
  'notifications',
  'review',
  'settings',
  'start',
  ...publicSections,
]

const pages = ['/', ...sections.flatMap((section) => [`/${section}`, `/${section}/*`])]

const isPublic = (url: string): boolean => publicSections.includes(url.split('/')[1] ?? '')

/** The route of a built document: `pages/monitors/$id.html` is that of each monitor. */
const addressOf = (name: string): string =>
  `/${name.slice('pages/'.length, -'.html'.length)}`.replace(/^\/index$/, '/').replaceAll('/$', '/:')

const folder = join(import.meta.dirname, '../../../dist/console')

type PagesDeps = { config: Storage; log: Log; sessionCookie: Pick<SessionCookie, 'read'> }

/**
 * The console, as built by `npm run build`. Browsers check each time whether the page has changed, so a new version
 * shows immediately; files of the page have hashes in their names and are cached. Without a session, browsers go to the
 * sign-in page, so they get its document instead of the page's frame.
 */
export const addPages = (app: App, { config, log, sessionCookie }: PagesDeps): void => {
  const files = readBuiltFiles(folder)
  const index = files.get('index.html')
  if (!index) {
    log.warn('the console is not built, so it is not served; run npm run build')
    return
  }
  const policy = policyOf(config)
  const documents = new Map(pages.map((url) => [url, index]))
  files.delete('index.html')
  for (const [name, file] of files) {
    if (!name.startsWith('pages/')) continue
    documents.set(addressOf(name), file)
    files.delete(name)
  }
  const signIn = documents.get('/sign-in') ?? index
  for (const [url, document] of documents) {
    addPage(app, url, (request, reply) => {
      const hasSession = isPublic(url) || sessionCookie.read(request.headers.cookie) !== undefined
      reply.header('content-security-policy', policy)
      return sendBuiltFile(request, reply, hasSession ? document : signIn, 'no-cache')
    })
  }
  for (const [name, file] of files) {
    const kept = name.startsWith('assets') ? 'public, max-age=31536000, immutable' : 'no-cache'
    addPage(app, `/console/${name}`, (request, reply) => sendBuiltFile(request, reply, file, kept))
  }
}
