// Builds dist/reference, the API reference: a page, the script of Scalar that renders it, and openapi.json with code
// samples.
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import scalar from '@scalar/fastify-api-reference'
import { fastify } from 'fastify'
import { samplesOfOpenApi } from '../client-of-openapi.ts'

const root = join(import.meta.dirname, '../..')
const folder = join(root, 'dist/reference')

/** Reads the browser script. It is part of Scalar's plugin, which only serves it over HTTP. */
const readScript = async (): Promise<string> => {
  const app = fastify()
  await app.register(scalar, { routePrefix: '/reference', configuration: { content: {} } })
  const { statusCode, body } = await app.inject('/reference/js/scalar.js')
  await app.close()
  if (statusCode !== 200) throw new Error(`@scalar/fastify-api-reference answers ${statusCode} for its script`)
  return body
}

const document = JSON.parse(await readFile(join(root, 'openapi.json'), 'utf8'))

await rm(folder, { recursive: true, force: true })
await mkdir(folder, { recursive: true })

await Promise.all([
  writeFile(join(folder, 'scalar.js'), await readScript()),
  writeFile(join(folder, 'openapi.json'), JSON.stringify(samplesOfOpenApi(document))),
  ...['index.html', 'reference.css', 'reference.js'].map((name) =>
    cp(join(import.meta.dirname, name), join(folder, name)),
  ),
])
