// Writes the compressed forms of every text in dist/console, dist/guide and dist/reference beside it, so that the service
// sends them without work. Browsers take brotli over TLS only, and gzip everywhere.
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

const texts = new Set(['.js', '.css', '.svg', '.html', '.json'])

/** Of 11. The script of the reference is so large that the best takes ten seconds, for a tenth of its size. */
const brotliQualities = { console: 11, guide: 11, reference: 9 }

const compress = async (path: string, brotliQuality: number): Promise<void> => {
  const content = await readFile(path)
  const params = { [constants.BROTLI_PARAM_QUALITY]: brotliQuality, [constants.BROTLI_PARAM_SIZE_HINT]: content.length }
  await writeFile(`${path}.br`, await promisify(brotliCompress)(content, { params }))
  await writeFile(`${path}.gz`, await promisify(gzip)(content, { level: 9 }))
}

for (const [name, quality] of Object.entries(brotliQualities)) {
  const folder = join(import.meta.dirname, '../dist', name)
  const files = await readdir(folder, { recursive: true })
  await Promise.all(
    files.filter((file) => texts.has(extname(file))).map((file) => compress(join(folder, file), quality)),
  )
}
