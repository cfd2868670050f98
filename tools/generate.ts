// Writes all generated files, or lists outdated ones with --check.

import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { buildApp } from '../server/app.ts'
import { openDeps } from '../server/deps.ts'
import { loadConfig } from '../server/platform/config.ts'
import { dumpSchema } from '../server/platform/db/dump.ts'
import { openEmbedded } from '../server/platform/db/embedded.ts'
import { migrate } from '../server/platform/db/migrate.ts'
import { openApiDocument } from '../server/platform/http/openapi.ts'
import { openLog } from '../server/platform/log.ts'
import { switches } from '../server/platform/switches.ts'
import { clientOfOpenApi } from './client-of-openapi.ts'
import { type OpenApi, typesOfOpenApi } from './types-of-openapi.ts'

const root = join(import.meta.dirname, '..')
const log = openLog({ write: () => {} })

const typesOfTables = async (folder: string, socket: string, user: string): Promise<string> => {
  const file = join(folder, 'tables.ts')
  await promisify(execFile)(process.execPath, [
    join(root, 'node_modules/kysely-codegen/dist/cli/bin.js'),
    '--dialect',
    'postgres',
    '--url',
    `postgres://${user}@localhost/earshot?host=${encodeURIComponent(socket)}`,
    '--out-file',
    file,
    '--date-parser',
    'timestamp',
    '--numeric-parser',
    'number',
    '--default-schema',
    'public',
    '--include-pattern',
    'public.*',
  ])
  return readFile(file, 'utf8')
}

const configurationPage = (): string => {
  const rows = Object.entries(switches).map(([name, { about, expects, fallback, fallbackText }]) => {
    const unset = fallbackText ?? (fallback === undefined ? 'unset' : `\`${fallback}\``)
    return `## ${name}\n\n${about}\n\nExpects ${expects}. Default: ${unset}.\n`
  })
  return `# Configuration

Configure Earshot with environment variables. For example:

\`\`\`text
PORT=4100
EARSHOT_BASE_URL=https://earshot.example.com
EARSHOT_TRUST_PROXY=1
\`\`\`

When a command starts, it reports all invalid variables at once, including variables that begin with EARSHOT_ but aren't listed
here. An empty value counts as unset. Storage on S3 uses the standard AWS variables (AWS_REGION, AWS_ACCESS_KEY_ID,
AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, and others that the AWS SDK reads).

\`npm run generate\` writes this page from \`server/platform/switches.ts\`.

${rows.join('\n')}`
}

/** Returns all generated files with their content. */
const generate = async (): Promise<Map<string, string>> => {
  const folder = await mkdtemp(join(tmpdir(), 'earshot-generate-'))
  const embedded = await openEmbedded({ dataDir: join(folder, 'data'), log, applicationName: 'generate' })
  try {
    const { connection } = embedded
    await migrate(connection, { log })
    const config = loadConfig({ EARSHOT_DATA_DIR: join(folder, 'data') })
    const deps = await openDeps({ config, log, connection, applicationName: 'generate' })
    const app = await buildApp(deps)
    const document = openApiDocument(app)
    await app.close()
    await deps.close()
    return new Map([
      ['server/platform/db/tables.ts', await typesOfTables(folder, String(connection.host), String(connection.user))],
      ['server/platform/db/schema.sql', await dumpSchema(connection)],
      ['openapi.json', `${JSON.stringify(document, null, 2)}\n`],
      ['client/src/schema.ts', typesOfOpenApi(document as OpenApi)],
      ['client/src/resources.ts', clientOfOpenApi(document as OpenApi)],
      ['docs/configuration.md', configurationPage()],
    ])
  } finally {
    await embedded.close()
    await rm(folder, { recursive: true, force: true })
  }
}

const files = await generate()
const stale: string[] = []
for (const [name, text] of files) {
  const present = await readFile(join(root, name), 'utf8').catch(() => undefined)
  if (present === text) continue
  stale.push(name)
  if (!process.argv.includes('--check')) await writeFile(join(root, name), text)
}
if (process.argv.includes('--check') && stale.length > 0) {
  process.stderr.write(`Not what the code generates: ${stale.join(', ')}. Run npm run generate.\n`)
  process.exitCode = 1
} else process.stdout.write(stale.length > 0 ? `Wrote ${stale.join(', ')}.\n` : 'All generated files are fresh.\n')
