import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { makeOrganization } from '../../../test/make.ts'
import { testServer } from '../../../test/server.ts'

const server = await testServer()
const { call, app, deps } = server

const headers = { cookie: deps.sessionCookie.write('token').split(';')[0] ?? '' }

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; font-src 'self'; img-src 'self' https: blob:; media-src 'self' blob:; manifest-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

const page = await call('GET', '/')
const script = /src="(\/console\/assets\/[^"]+\.js)"/.exec(page.text)?.[1] ?? ''
const style = /href="(\/console\/assets\/[^"]+\.css)"/.exec(page.text)?.[1] ?? ''

describe.each(['/', '/sign-in', '/welcome', '/conversations', '/conversations/0197a3b0-5e1c-7c3a-9a59-3f1f0c2d4e5f'])(
  'the console at %s',
  (path) => {
    it('is a page from here, with a policy that runs nothing from elsewhere and nothing inline', async () => {
      const answer = await call('GET', path)
      expect(answer.status).toBe(200)
      expect(answer.text).toContain(`src="${script}"`)
      expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(answer.headers.get('content-security-policy')).toBe(policy)
      expect(answer.text).not.toMatch(/(src|href)="(https?:)?\/\/|<style|style=|<script(?! type="module")| on\w+="/)
    })
  },
)

describe('the document of a page', () => {
  const preloaded = async (path: string) => {
    const { text } = await call('GET', path, { headers })
    const links = text.matchAll(/<link rel="(?:module)?preload".*? href="([^"]+)"/g)
    return [...links].map(([, file = '']) => file.replaceAll('&amp;', '&'))
  }

  it('preloads the files and data of that page, all of which exist', async () => {
    const { key } = await makeOrganization(server)
    const id = '0197a3b0-5e1c-7c3a-9a59-3f1f0c2d4e5f'
    for (const [path, name] of [
      ['/', 'overview'],
      ['/conversations', 'conversations'],
      [`/conversations/${id}`, 'conversation'],
      [`/monitors/${id}`, 'monitor'],
      ['/settings/members', 'settings'],
      ['/sign-in', 'sign-in'],
    ] as const) {
      const files = await preloaded(path)
      expect(files, path).toContainEqual(expect.stringMatching(`^/console/assets/${name}-[^/]+\\.js$`))
      for (const file of files) expect((await call('GET', file, { key })).status, file).toBe(200)
    }
  })

  it('only preloads the signed-in person if the page needs it', async () => {
    for (const path of ['/', '/exports/schedules', '/settings']) expect(await preloaded(path), path).toContain('/v1/me')
    for (const path of ['/sign-in', '/welcome', '/outside', '/exports/nowhere'])
      expect(await preloaded(path), path).not.toContain('/v1/me')
  })

  it('has the frame and title of the page until its script renders it', async () => {
    const { text } = await call('GET', '/monitors', { headers })
    expect(text).toContain('<div class="shell-title">Monitors</div>')
    expect((await call('GET', '/sign-in')).text).toContain('<div id="root"></div>')
  })

  it('is the sign-in page for a browser without a session', async () => {
    const signIn = await call('GET', '/sign-in')
    const forged = { cookie: 'earshot.session_token=token.forged' }
    for (const path of ['/', '/monitors', '/settings/members', '/monitors/nowhere/else']) {
      for (const answer of [await call('GET', path), await call('GET', path, { headers: forged })])
        expect(answer.text, path).toBe(signIn.text)
    }
    expect((await call('GET', '/welcome')).text).not.toBe(signIn.text)
  })
})

it.each([
  ['/', 'no-cache'],
  [script, 'public, max-age=31536000, immutable'],
  [style, 'public, max-age=31536000, immutable'],
])('%s is only sent again if it changed, and compressed if the client accepts that', async (path, kept) => {
  const first = await call('GET', path)
  expect(first.status).toBe(200)
  expect(first.headers.get('cache-control')).toBe(kept)
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

  const small = await app.inject({ url: path, headers: { 'accept-encoding': 'gzip, br' } })
  expect(small.headers).toMatchObject({ 'content-encoding': 'br', vary: 'accept-encoding' })
  expect(brotliDecompressSync(small.rawPayload).toString()).toBe(first.text)
  const zipped = await app.inject({ url: path, headers: { 'accept-encoding': 'gzip' } })
  expect(gunzipSync(zipped.rawPayload).toString()).toBe(first.text)
  const plain = await app.inject({ url: path, headers: { 'accept-encoding': 'identity' } })
  expect(plain.headers['content-encoding']).toBeUndefined()
})

it.each(['/nowhere', '/console/', '/console/index.html', '/console/assets/gone.js'])(
  '%s does not exist',
  async (path) => {
    expect(await call('GET', path)).toMatchObject({ status: 404, body: { error: 'not found' } })
  },
)

it('plays recordings from a bucket', async () => {
  const other = await testServer({
    EARSHOT_STORAGE: 's3://recordings',
    EARSHOT_S3_ENDPOINT: 'http://127.0.0.1:9',
    EARSHOT_STORAGE_SHARED: 'true',
  })
  const answer = await other.call('GET', '/')
  expect(answer.headers.get('content-security-policy')).toContain("media-src 'self' blob: https: http://127.0.0.1:9;")
})
