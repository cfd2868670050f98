import { join } from 'node:path'
import type { Config } from '../config.ts'
import type { SessionCookie } from '../identity/session-cookie.ts'
import type { Log } from '../log.ts'
import { addPage, readBuiltFiles, sendBuiltFile } from './built-files.ts'
import type { App } from './http.ts'

type Storage = Pick<Config, 'storage' | 's3Endpoint'>

/** Recordings with signed links come from the bucket itself, and its host is chosen by AWS. */
const mediaSources = ({ storage, s3Endpoint }: Storage) =>
  storage.kind === 's3' ? ` https:${s3Endpoint?.startsWith('http:') ? ` ${new URL(s3Endpoint).origin}` : ''}` : ''

/**
 * Returns the content security policy. All content must come from this origin, and scripts, styles, and images must not
 * be inline. The only exceptions are logos, which come from their companies' URLs, and recordings, which come from the
 * operator's storage.
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

/** The pages that need no session. */
const publicSections = ['confirm-address', 'invitations', 'outside', 'shared', 'sign-in', 'welcome']

/** The first path segment of each page. The browser handles the remaining segments. */
const sections = [
  'agents',
  'alerts',
  'boards',
  'buckets',
  'companies',
  'compare',
  'conversations',
  'experiments',
  'exports',
  'findings',
  'monitors',
  'notifications',
  'review',
  'settings',
  'start',
  'topics',
  ...publicSections,
]

const pages = ['/', ...sections.flatMap((section) => [`/${section}`, `/${section}/*`])]

const isPublic = (url: string): boolean => publicSections.includes(url.split('/')[1] ?? '')

/** Returns the route of a built document. `pages/monitors/$id.html` serves every monitor. */
const addressOf = (name: string): string =>
  `/${name.slice('pages/'.length, -'.html'.length)}`.replace(/^\/index$/, '/').replaceAll('/$', '/:')

const folder = join(import.meta.dirname, '../../../dist/console')

type PagesDeps = { config: Storage; log: Log; sessionCookie: Pick<SessionCookie, 'read'> }

/**
 * Serves the console that `npm run build` creates. Browsers always check whether a page has changed, so a new version
 * appears immediately. Other files have hashes in their names and are cached. Browsers without a session end up on the
 * sign-in page, so they get its document instead of the page's own.
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
      // Search engines that find a link must not list it.
      reply.header('x-robots-tag', 'noindex')
      return sendBuiltFile(request, reply, hasSession ? document : signIn, 'no-cache')
    })
  }
  for (const [name, file] of files) {
    const cacheControl = name.startsWith('assets') ? 'public, max-age=31536000, immutable' : 'no-cache'
    addPage(app, `/console/${name}`, (request, reply) => sendBuiltFile(request, reply, file, cacheControl))
  }
}
