// Writes compressed copies of all text files in dist/console, dist/guide, and dist/reference, so that the server
// doesn't have to compress them. Browsers accept brotli only over TLS, and gzip everywhere.
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

const texts = new Set(['.js', '.css', '.svg', '.html', '.json'])

/** The maximum level, 11, would take ten seconds for the reference's large script, and save only 10%. */
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
