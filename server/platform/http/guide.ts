import { join } from 'node:path'
import { addPage, readBuiltFiles, sendBuiltFile } from './built-files.ts'
import type { App } from './http.ts'

const folder = join(import.meta.dirname, '../../../dist/guide')

const policy = [
  "default-src 'none'",
  ...["script-src 'self'", "style-src 'self'", "connect-src 'self'", "img-src 'self'", "font-src 'self'"],
  ...["form-action 'none'", "frame-ancestors 'none'", "base-uri 'none'"],
].join('; ')

/** The guide, as `npm run build` has made it of `docs/`. */
export const addGuide = (app: App): void => {
  const files = readBuiltFiles(folder)
  if (files.size > 0) {
    const toStart = '/docs/guide/start'
    for (const url of ['/docs/guide', '/docs/guide/']) addPage(app, url, (_request, reply) => reply.redirect(toStart))
  }
  for (const [name, file] of files) {
    const url = `/docs/guide/${name.replace(/\.html$/, '')}`
    addPage(app, url, (request, reply) =>
      sendBuiltFile(request, reply.header('content-security-policy', policy), file, 'no-cache'),
    )
  }
}
