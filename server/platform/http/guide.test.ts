import { expect, it } from 'vitest'
import { testServer } from '../../../test/server.ts'

const { call } = await testServer()

it('leads to its first page, which runs nothing from elsewhere and nothing that stands in it', async () => {
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

it.each(['/docs/guide/nowhere', '/docs/guide/../start', '/docs/guide/start.html'])('%s is no page', async (path) => {
  expect((await call('GET', path)).status).toBe(404)
})
