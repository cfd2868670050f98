// Builds dist/guide from docs/: pages, a style sheet, and a search index for the browser.
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import MiniSearch from 'minisearch'
import { contents, pageNames } from './contents.ts'
import { readPage } from './read.ts'
import { pageOf } from './template.ts'

const root = join(import.meta.dirname, '../..')
const folder = join(root, 'dist/guide')
const assets = join(folder, 'assets')

const pages = await Promise.all(
  pageNames.map(async (name) => readPage(name, await readFile(join(root, 'docs', `${name}.md`), 'utf8'))),
)

/** The options are stored with the index, because the browser needs the same ones. */
const options = {
  fields: ['heading', 'title', 'text'],
  storeFields: ['page', 'title', 'anchor', 'heading'],
  searchOptions: { boost: { heading: 4, title: 2 }, prefix: true, fuzzy: 0.15, combineWith: 'AND' as const },
}
const index = new MiniSearch(options)
index.addAll(pages.flatMap(({ sections }) => sections).map((section, id) => ({ id, ...section })))

const fontOf = (name: string) =>
  join(root, `node_modules/@fontsource-variable/${name}/files/${name}-latin-wght-normal.woff2`)

await rm(folder, { recursive: true, force: true })
await mkdir(assets, { recursive: true })
await Promise.all([
  ...pages.map(({ name }, at) => writeFile(join(folder, `${name}.html`), pageOf(pages, at, contents))),
  writeFile(join(assets, 'search.json'), JSON.stringify({ options, index })),
  cp(join(root, 'console/ui/tokens.css'), join(assets, 'tokens.css')),
  ...['inter', 'jetbrains-mono'].map((name) => cp(fontOf(name), join(assets, `${name}.woff2`))),
  ...['guide.css', 'guide.js'].map((name) => cp(join(import.meta.dirname, name), join(assets, name))),
  cp(join(dirname(fileURLToPath(import.meta.resolve('minisearch'))), '../es/index.js'), join(assets, 'minisearch.js')),
])
