import { join } from 'node:path'
import { addPage, type BuiltFile, readBuiltFiles, sendBuiltFile } from './built-files.ts'
import type { App } from './http.ts'

const built = join(import.meta.dirname, '../../../dist')

/** Returns a policy that only allows this service's scripts. */
const policyOf = (styles: string) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src ${styles}`,
    "connect-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ')

const guidePolicy = policyOf("'self'")

/** The policy allows inline styles, because the renderer of the reference adds style elements. */
const referencePolicy = policyOf("'self' 'unsafe-inline'")

const addGuide = (app: App): void => {
  const files = readBuiltFiles(join(built, 'guide'))
  if (files.size > 0) {
    const toStart = '/docs/guide/start'
    for (const url of ['/docs/guide', '/docs/guide/']) addPage(app, url, (_request, reply) => reply.redirect(toStart))
  }
  for (const [name, file] of files) {
    const url = `/docs/guide/${name.replace(/\.html$/, '')}`
    addPage(app, url, (request, reply) =>
      sendBuiltFile(request, reply.header('content-security-policy', guidePolicy), file, 'no-cache'),
    )
  }
}

const addReference = (app: App): void => {
  // The files have several megabytes, so a process only keeps them in memory after someone opens the reference.
  let files: Map<string, BuiltFile> | undefined
  const addFile = (url: string, name: string) =>
    addPage(app, url, (request, reply) => {
      files ??= readBuiltFiles(join(built, 'reference'))
      const file = files.get(name)
      if (!file) throw new Error(`dist/reference/${name} is missing: run npm run build`)
      return sendBuiltFile(request, reply.header('content-security-policy', referencePolicy), file, 'no-cache')
    })
  addFile('/docs', 'index.html')
  for (const name of ['scalar.js', 'reference.js', 'reference.css', 'openapi.json']) {
    addFile(`/docs/reference/${name}`, name)
  }
}

/** Serves the guide and the API reference, which `npm run build` creates from `docs/` and `openapi.json`. */
export const addDocumentation = (app: App): void => {
  addGuide(app)
  addReference(app)
}
