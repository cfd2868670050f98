import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { testServer } from '../../../test/server.ts'
import type { OpenApiDocument } from './openapi.ts'

const { call } = await testServer()
const root = join(import.meta.dirname, '../../..')

const sampleProject = {
  compilerOptions: {
    target: 'es2024',
    lib: ['es2024', 'dom', 'dom.iterable'],
    module: 'esnext',
    moduleResolution: 'bundler',
    strict: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    typeRoots: [join(root, 'node_modules/@types')],
    types: ['node'],
    paths: { '@earshot/client': [join(root, 'client/src/earshot.ts')] },
  },
  include: ['.'],
}

it('redirects to its first page, which runs nothing from elsewhere and no inline scripts', async () => {
  const guide = await call('GET', '/docs/guide')
  expect(guide.status).toBe(302)
  const page = await call('GET', guide.headers.get('location') ?? '')
  expect(page.status).toBe(200)
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self'/)
  expect(page.text).toContain('<h1 id="start">Start</h1>')
  expect(page.text).not.toMatch(/<style|style=|<script(?! type="module")| on\w+="/)
  for (const [, path = ''] of page.text.matchAll(/(?:src|href)="(\/docs\/guide\/assets\/[^"]+)"/g)) {
    expect((await call('GET', path)).status, path).toBe(200)
  }
  expect((await call('GET', '/docs/guide/assets/search.json')).body.index.documentCount).toBeGreaterThan(100)
})

it.each(['/docs/guide/nowhere', '/docs/guide/../start', '/docs/guide/start.html'])(
  '%s does not exist',
  async (path) => {
    expect((await call('GET', path)).status).toBe(404)
  },
)

describe('the API reference', () => {
  it('loads everything from here, and runs no inline scripts', async () => {
    const { status, headers, text } = await call('GET', '/docs')
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self';/)
    expect(text).not.toMatch(/<style|\sstyle=|<script>|\son\w+=/)
    const targets = [...text.matchAll(/\s(?:src|href)="([^"]*)"/g)].map(([, target]) => String(target))
    expect(targets).toContain('/docs/reference/scalar.js')
    for (const target of targets.filter((each) => each.startsWith('/docs/'))) {
      expect((await call('GET', target)).status, target).toBeLessThan(400)
    }
    expect(targets.filter((target) => !target.startsWith('/'))).toEqual([])
  })

  it('shows the document of /openapi.json, and client samples that compile', async () => {
    const { body: shown } = await call<OpenApiDocument>('GET', '/docs/reference/openapi.json')
    const { body: served } = await call<OpenApiDocument>('GET', '/openapi.json')
    const samples: string[] = []
    const withoutSamples = JSON.parse(JSON.stringify(shown), (name, value) => {
      if (name !== 'x-codeSamples') return value
      samples.push(value[0].source)
      return undefined
    })
    expect(withoutSamples).toEqual(served)
    expect(samples.length).toBeGreaterThan(100)

    const folder = await mkdtemp(join(tmpdir(), 'earshot-samples-'))
    try {
      await Promise.all(samples.map((sample, at) => writeFile(join(folder, `${at}.ts`), sample)))
      await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(sampleProject))
      await promisify(execFile)(join(root, 'node_modules/.bin/tsc'), ['-p', folder]).catch(({ stdout }) => {
        throw new Error(stdout)
      })
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})
