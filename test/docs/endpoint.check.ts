import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { blocksOf } from './blocks.ts'

/**
 * CONTRIBUTING.md adds an endpoint in four files. This test does so in a copy of the repository, then checks its types
 * and runs its tests.
 */

const root = join(import.meta.dirname, '../..')
const run = promisify(execFile)

const copyTree = async (): Promise<string> => {
  const copy = await mkdtemp(join(tmpdir(), 'earshot-endpoint-'))
  onTestFinished(() => rm(copy, { recursive: true, force: true }))
  for (const name of ['server', 'client', 'test', 'migrations', 'package.json', 'tsconfig.json', 'vitest.config.ts'])
    await cp(join(root, name), join(copy, name), { recursive: true })
  for (const name of ['node_modules', 'dist', 'docs', 'openapi.json']) await symlink(join(root, name), join(copy, name))
  return copy
}

type Addition = { block: string; imports?: string[]; before?: string }

/** Adds the imports of a block to the top of a file, and the rest to its end or before the given text. */
const add = async (file: string, { block, imports = [], before }: Addition): Promise<void> => {
  const isImport = (line: string) => line.startsWith('import ')
  const lines = block.split('\n')
  const text = await readFile(file, 'utf8')
  const place = before === undefined ? text.length : text.lastIndexOf(before)
  const rest = lines.filter((line) => !isImport(line))
  const parts = [...imports, ...lines.filter(isImport), text.slice(0, place), ...rest, text.slice(place)]
  await writeFile(file, parts.join('\n'))
}

it('an endpoint is added in four files as documented', async () => {
  const page = await readFile(join(root, 'CONTRIBUTING.md'), 'utf8')
  const blocks = blocksOf(page).filter(({ language }) => language === 'ts')
  const [schema = '', queries = '', routes = '', test = ''] = blocks.map(({ text }) => text)
  expect(blocks).toHaveLength(4)
  const copy = await copyTree()
  const companies = (name: string) => join(copy, 'server/companies', name)
  await add(companies('schema.ts'), { block: schema })
  await add(companies('queries.ts'), { block: queries })
  await add(companies('routes.ts'), {
    block: routes,
    // An editor would add these imports.
    imports: [
      "import { Closed } from '../platform/http/schemas.ts'",
      "import { listCompaniesByName } from './queries.ts'",
      "import { CompanySearch } from './schema.ts'",
    ],
    before: '}',
  })
  await add(companies('routes.test.ts'), { block: test })

  await writeFile(
    join(copy, 'tsconfig.companies.json'),
    JSON.stringify({ extends: './tsconfig.json', include: ['server/companies'] }),
  )
  const told = async (...args: [string, ...string[]]) =>
    (
      await run('npx', args, { cwd: copy, env: { ...process.env, NO_COLOR: '1' } }).catch(
        (error: unknown) => error as { stdout: string },
      )
    ).stdout
  expect(await told('tsc', '-p', 'tsconfig.companies.json')).toBe('')
  expect(await told('vitest', 'run', 'server/companies/routes', '-t', 'by its name')).toMatch(/ 1 passed/)
}, 120_000)
