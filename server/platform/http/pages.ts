import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { App } from './http.ts'

const folder = join(import.meta.dirname, '../../../console')

/** Everything comes from this origin, and nothing stands in the page itself: no inline script, style or image. */
const policy = [
  "default-src 'none'",
  ...["script-src 'self'", "style-src 'self'", "connect-src 'self'", "img-src 'self'"],
  ...["form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'"],
].join('; ')

const types = { html: 'text/html', js: 'text/javascript', css: 'text/css', svg: 'image/svg+xml' } as const

const pages: [url: string, file: `${string}.${keyof typeof types}`][] = [
  ['/', 'index.html'],
  ['/sign-in', 'sign-in.html'],
  ['/welcome', 'welcome.html'],
  ['/console/console.js', 'console.js'],
  ['/console/console.css', 'console.css'],
  ['/console/icon.svg', 'icon.svg'],
]

/** The console's pages. Browsers ask each time whether they have changed, so a new version shows at once. */
export const addPages = (app: App): void => {
  for (const [url, file] of pages) {
    const content = readFileSync(join(folder, file))
    const etag = `"${createHash('sha256').update(content).digest('base64url')}"`
    const type = `${types[file.slice(file.lastIndexOf('.') + 1) as keyof typeof types]}; charset=utf-8`
    app.route({
      method: ['GET', 'HEAD'],
      url,
      config: { access: 'public' },
      schema: { hide: true },
      handler: (request, reply) => {
        reply.headers({ 'content-security-policy': policy, 'cache-control': 'no-cache', etag })
        const known = request.headers['if-none-match']?.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
        if (known?.some((tag) => tag === etag || tag === '*')) return reply.code(304).send()
        return reply.type(type).send(content)
      },
    })
  }
}
