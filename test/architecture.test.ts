import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { describe, expect, it } from 'vitest'

/** Checks the import rules of ARCHITECTURE.md. */

const root = join(import.meta.dirname, '..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')

const files = globSync(['{server,test,bench,tools,console,e2e}/**/*.{ts,tsx}', 'client/{src,test}/**/*.ts'], {
  cwd: root,
  exclude: ['**/node_modules/**'],
})
  .map((file) => file.split(sep).join('/'))
  .sort()
const sources = files.filter((file) => file.startsWith('server/') && !/\.(test|faults)\.ts$/.test(file))

type Import = { from: string; what: string; typeOnly: boolean }

const importPattern =
  /(?:^|\n)(?:import|export)\s+(type\s)?(?:[^'"()]*?\sfrom\s+)?['"]([^'"]+)['"]|import\(\s*['"]([^'"]+)['"]\s*\)/g

const importsOf = (file: string): Import[] =>
  [...read(file).matchAll(importPattern)].map(([, type, fixed, dynamic]) => {
    const named = fixed ?? dynamic ?? ''
    const what = named.startsWith('.')
      ? relative(root, join(root, dirname(file), named))
          .split(sep)
          .join('/')
      : named
    return { from: file, what, typeOnly: type !== undefined }
  })

const imports = sources.flatMap(importsOf)
const pages = files.filter((file) => file.startsWith('console/'))

const folderOf = (file: string) => /^server\/([^/]+)\/.+/.exec(file)?.[1]
const notResources = new Set(['platform', 'commands'])
const resourceOf = (file: string) => {
  const folder = folderOf(file)
  return folder && !notResources.has(folder) ? folder : undefined
}

/** Returns the folder of server/ that a file is in, or the file itself if it is in server/. */
const partOf = (file: string) => file.split('/')[1] ?? file

/**
 * Parses the block under this heading of ARCHITECTURE.md. Each line has a floor's name, followed by its folders in
 * order.
 */
const floors = /^## Floors$.*?^```\n(.*?)^```$/ms
const listed = (floors.exec(read('ARCHITECTURE.md'))?.[1] ?? '')
  .trim()
  .split('\n')
  .flatMap((line) => line.trim().split(/\s+/).slice(1))

const expectNone = (found: Import[]) => expect(found.map(({ from, what }) => `${from} imports ${what}`)).toEqual([])

describe('floors', () => {
  it('list every folder and file of server/ once', () => {
    expect(listed.toSorted()).toEqual([...new Set(sources.map(partOf))].sort())
  })

  it('only import lower ones, types included', () => {
    const upward = imports
      .filter(({ what }) => what.startsWith('server/'))
      .filter(({ from, what }) => listed.indexOf(partOf(what)) > listed.indexOf(partOf(from)))
      .map(({ from, what }) => `${from} imports ${what}, but ${partOf(what)} stands above ${partOf(from)}`)
    const advice = [
      'A file imports what stands above it.',
      'To tell somebody above that something happened, add an event to server/platform/reactions.ts, call deps.reactions',
      'where it happens, and list the consequence in server/reactions.ts.',
      'To ask somebody above, declare the question in a deps.ts of the folder, and list who answers it among the providers',
      'in server/reactions.ts. What is not about the upper resource at all belongs below. The floors are in ARCHITECTURE.md.',
    ]
    expect(upward, advice.join('\n')).toEqual([])
  })
})

describe('imports', () => {
  it('exist', () => {
    expect(sources.length).toBeGreaterThan(50)
    expect(imports.length).toBeGreaterThan(200)
  })

  it('are relative with .ts, from a package, or from node:', () => {
    for (const file of files) {
      for (const { what } of importsOf(file)) {
        if (what.startsWith('server/') || what.startsWith('test/') || what.startsWith('bench/')) {
          expect(what, file).toMatch(/\.ts$/)
          expect(what, file).not.toMatch(/\/index\.ts$/)
        }
      }
    }
  })

  it('of the service do not reach its tests', () => {
    expectNone(imports.filter(({ what }) => what.startsWith('test/')))
    expect(files.filter((file) => /^server\/.*\/test-[\w-]+\.ts$/.test(file))).toEqual([])
  })

  it('of the client only reach the client', () => {
    const own = files.filter((file) => file.startsWith('client/src/')).flatMap(importsOf)
    expect(own.length).toBeGreaterThan(5)
    expectNone(own.filter(({ what }) => !what.startsWith('client/src/')))
  })

  it('of the platform reach no resource', () => {
    const allowed = (what: string) => !what.startsWith('server/') || what.startsWith('server/platform/')
    expectNone(
      imports.filter(({ from, what }) => {
        return folderOf(from) === 'platform' && !allowed(what)
      }),
    )
  })

  it('of another resource use its queries, jobs, or a verb, never its routes or schema', () => {
    expectNone(
      imports.filter(({ from, what }) => {
        const [mine, other] = [resourceOf(from), resourceOf(what)]
        return mine && other && mine !== other && /\/(routes|schema)\.ts$/.test(what)
      }),
    )
  })

  it('of queries reach no sibling, and of routes only come from the app', () => {
    expectNone(
      imports.filter(({ from, what }) => {
        const sibling = dirname(from) === dirname(what) && resourceOf(from) !== undefined
        return sibling && from.endsWith('/queries.ts')
      }),
    )
    expectNone(imports.filter(({ from, what }) => what.endsWith('/routes.ts') && from !== 'server/app.ts'))
  })

  it('of kysely and pg are only in db/ and queries.ts, and of the queue in jobs/', () => {
    const touchesSql = (file: string) => /^server\/platform\/(db|jobs)\/|\/queries\.ts$/.test(file)
    expectNone(
      imports.filter(({ from, what, typeOnly }) => /^(kysely|pg)$/.test(what) && !typeOnly && !touchesSql(from)),
    )
    expectNone(imports.filter(({ from, what }) => /^croner/.test(what) && !from.startsWith('server/platform/jobs/')))
  })

  it('of network clients for given addresses are only in outbound/', () => {
    expectNone(imports.filter(({ from, what }) => what === 'undici' && !from.startsWith('server/platform/outbound/')))
    // The operator configures a single mail server, so its address needs no check.
    expectNone(imports.filter(({ from, what }) => /^nodemailer/.test(what) && from !== 'server/platform/mail/smtp.ts'))
    const fetching = sources.filter((file) => /(?<![.\w])fetch\(/.test(read(file)))
    expect(fetching).toEqual([])
  })

  it('of the console come from packages and the console, with file extensions', () => {
    expect(pages.length).toBeGreaterThan(50)
    const own = pages.flatMap(importsOf).filter(({ what }) => !/^(@|[a-z])/.test(what) || what.includes('/'))
    const wrong = own.filter(({ what }) => /^(server|test|e2e|bench|tools)\//.test(what) || what.startsWith('.'))
    expectNone(wrong)
    expectNone(own.filter(({ what }) => what.startsWith('console/') && !/\.(tsx?|css)$/.test(what)))
  })

  it('have no cycles', () => {
    const graph = new Map<string, string[]>()
    for (const { from, what, typeOnly } of imports) {
      if (!typeOnly && what.startsWith('server/')) graph.set(from, [...(graph.get(from) ?? []), what])
    }
    const done = new Set<string>()
    const visit = (file: string, path: string[]): void => {
      if (path.includes(file)) throw new Error(`A cycle: ${[...path.slice(path.indexOf(file)), file].join(' → ')}`)
      if (done.has(file)) return
      for (const next of graph.get(file) ?? []) visit(next, [...path, file])
      done.add(file)
    }
    for (const file of graph.keys()) visit(file, [])
    expect(done.size).toBeGreaterThan(50)
  })
})

describe('files', () => {
  it('only read the environment in config.ts', () => {
    expect(sources.filter((file) => file !== 'server/platform/config.ts' && /process\.env/.test(read(file)))).toEqual(
      [],
    )
  })

  it('have meaningful names', () => {
    const empty = /(^|\/)(utils?|helpers?|common|types|service|manager|index)(\/|\.tsx?)/
    expect(files.filter((file) => empty.test(file))).toEqual([])
  })
})

describe('the console', () => {
  /**
   * These files may call fetch: the API client, the code that decodes recordings (which are not JSON), and samples for
   * users to copy.
   */
  const asks = new Set([
    'console/api/client.ts',
    'console/conversations/decode-sound.ts',
    'console/first-run/samples.ts',
  ])

  it('only calls the service with its client, and never writes markup from text', () => {
    const asking = pages.filter((file) => !asks.has(file) && /(?<![.\w])fetch\(/.test(read(file)))
    expect(asking).toEqual([])
    const writing = pages.filter((file) =>
      /dangerouslySetInnerHTML|\.(inner|outer)HTML|insertAdjacentHTML/.test(read(file)),
    )
    expect(writing).toEqual([])
  })

  it('takes its colors from the tokens', () => {
    const sheets = globSync('console/**/*.css', { cwd: root }).filter((file) => !file.endsWith('tokens.css'))
    const raw = sheets.filter((file) =>
      /#[0-9a-f]{3,8}\b(?![^{]*\{)/i.test(read(file).replaceAll(/light-dark\([^)]*\)/g, '')),
    )
    expect(raw).toEqual([])
  })
})

describe('queries', () => {
  /**
   * Matches queries without an organization: they concern people, sign-in, organizations themselves, or service keys.
   */
  const withoutTenant =
    /User|Password|Session|Identit(y|ies)|Attempt|AddressChange|ServiceKey|^(insertOrganization|findOrganizationBySlug|organizationExists)$/

  it('take the organization right after the database, or are named AllOrgs', () => {
    const wrong: string[] = []
    for (const file of sources.filter((name) => name.endsWith('/queries.ts') && !name.includes('/platform/jobs/'))) {
      // A function that only builds part of a statement runs no query.
      const functions = read(file).matchAll(/export const (\w+) = (?:async )?\(([^)]*)\)(?! => sql\b)/g)
      for (const [, name = '', parameters = ''] of functions) {
        // A function without a database only reads a row.
        const isQuery = /\bDb\b|QueryBuilder/.test(parameters)
        if (!isQuery || /AllOrgs$/.test(name) || withoutTenant.test(name)) continue
        if (!/^\s*((db|trx): Db,\s.*)?org: OrgId/s.test(parameters)) wrong.push(`${file}: ${name}`)
      }
    }
    expect(wrong).toEqual([])
  })
})
