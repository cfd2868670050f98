import { describe, expect, it } from 'vitest'
import { testServer } from '../../../test/server.ts'

const { call } = await testServer()

describe.each([
  ['/', 'text/html'],
  ['/sign-in', 'text/html'],
  ['/welcome', 'text/html'],
  ['/console/console.js', 'text/javascript'],
  ['/console/console.css', 'text/css'],
  ['/console/icon.svg', 'image/svg+xml'],
])('%s', (path, type) => {
  it('is served from here, under a policy that lets nothing in from elsewhere', async () => {
    const page = await call('GET', path)
    expect(page.status).toBe(200)
    expect(page.headers.get('content-type')).toBe(`${type}; charset=utf-8`)
    expect(page.headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    )
    expect(page.text).not.toMatch(/(src|href)="(https?:)?\/\/|<style|style=|<script(?! type="module" src=)| on\w+="/)
  })

  it('is asked for again only to learn whether it changed', async () => {
    const first = await call('GET', path)
    expect(first.headers.get('cache-control')).toBe('no-cache')
    const etag = first.headers.get('etag') ?? ''
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`]) {
      const again = await call('GET', path, { headers: { 'if-none-match': known } })
      expect(again).toMatchObject({ status: 304, text: '' })
      expect(again.headers.get('etag')).toBe(etag)
    }
    expect((await call('GET', path, { headers: { 'if-none-match': '"other"' } })).status).toBe(200)
    const head = await call('HEAD', path)
    expect(head).toMatchObject({ status: 200, text: '' })
    expect(head.headers.get('content-length')).toBe(String(Buffer.byteLength(first.text)))
  })
})
