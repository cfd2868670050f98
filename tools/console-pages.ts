// Writes an HTML document for each console page that names its files and first API request, so that the browser
// requests them together with the script.

import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Plugin, Rolldown } from 'vite'

type Bundle = Rolldown.OutputBundle

const chunksOf = (bundle: Bundle) => Object.values(bundle).filter((file) => file.type === 'chunk')

/** Returns a chunk and all its static imports. */
const withImports = (bundle: Bundle, fileName: string, found = new Set<string>()): Set<string> => {
  const chunk = bundle[fileName]
  if (found.has(fileName) || chunk?.type !== 'chunk') return found
  found.add(fileName)
  for (const imported of chunk.imports) withImports(bundle, imported, found)
  return found
}

/** Reads each page's path and module from the routes, where they follow each other. */
const readRoutes = (file: string): { path: string; module: string }[] => {
  const text = readFileSync(file, 'utf8')
  const routes = [...text.matchAll(/'(\/[^']*)',\s[^']*?import\('([^']+)'\)/g)].map(([, path = '', module = '']) => {
    return { path, module: join(dirname(file), module) }
  })
  if (routes.length !== text.split('import(').length - 1) {
    throw new Error(`${file}: the path of each route must stand before the import of its page`)
  }
  return routes
}

/** Returns the page's frame and title, which the script replaces. The title of `/monitors` is Monitors. */
const shellOf = (path: string): string => {
  const [, name] = /^\/([a-z]*)$/.exec(path) ?? []
  const title = name === undefined ? '' : name === '' ? 'Overview' : `${name.charAt(0).toUpperCase()}${name.slice(1)}`
  return `<div class="shell" aria-hidden="true"><div class="shell-rail"></div><div class="shell-title">${title}</div></div>`
}

/** The first requests of each page, which everyone is allowed to make. */
const firstLists: Record<string, string[]> = {
  '/': [
    '/v1/monitors?enabled=true&limit=24',
    '/v1/alert-incidents?status=firing&limit=20',
    '/v1/findings?status=open%2Cacknowledged&limit=200',
    '/v1/experiments?status=running&limit=10',
    '/v1/buckets?limit=200',
  ],
}

const linkToModule = (fileName: string) => `<link rel="modulepreload" crossorigin href="/console/${fileName}">`
const linkToAnswer = (href: string) =>
  `<link rel="preload" as="fetch" crossorigin href="${href.replaceAll('&', '&amp;')}">`

const shellMarker = '<!-- shell -->'

export const consolePages = (routes: string): Plugin => ({
  name: 'console-pages',
  apply: 'build',
  generateBundle: {
    order: 'post',
    handler(_, bundle) {
      const index = bundle['index.html']
      const entry = chunksOf(bundle).find(({ isEntry }) => isEntry)
      if (index?.type !== 'asset' || !entry) throw new Error('the console has no index.html')
      const always = withImports(bundle, entry.fileName)
      for (const { path, module } of readRoutes(routes)) {
        const page = chunksOf(bundle).find(({ facadeModuleId }) => facadeModuleId === module)
        if (!page) throw new Error(`no file of the console begins with ${module}`)
        const files = [...withImports(bundle, page.fileName)].filter((fileName) => !always.has(fileName))
        // The sign-in pages and the pages behind links have no frame and don't request `/v1/me`.
        const isInside = !/\/(sign-in|shared)\//.test(module)
        this.emitFile({
          type: 'asset',
          fileName: `pages${path === '/' ? '/index' : path}.html`,
          source: documentOf(String(index.source), path, { files, isInside }),
        })
      }
    },
  },
})

const documentOf = (index: string, path: string, { files, isInside }: { files: string[]; isInside: boolean }) => {
  const answers = isInside ? ['/v1/me', ...(firstLists[path] ?? [])] : []
  const links = [...files.map(linkToModule), ...answers.map(linkToAnswer)]
  return index
    .replace('</head>', `  ${links.join('\n    ')}\n  </head>`)
    .replace(shellMarker, isInside ? shellOf(path) : '')
}
