import { beforeEach, describe, expect, it } from 'vitest'
import { makeCompany, makeOrganization } from '../../test/make.ts'
import { testServer } from '../../test/server.ts'
import { sweepLogos } from './jobs.ts'

const server = await testServer()
const { call } = server

let key: string
beforeEach(async () => {
  key = (await makeOrganization(server)).key
})

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

describe('a company', () => {
  it('is created, read, changed, and deleted', async () => {
    const body = { name: 'Acme Dental', logoUrl: 'https://cdn.example.com/acme.png' }
    const created = await call('POST', '/v1/companies', { key, body })
    expect(created.status).toBe(201)
    expect(created.headers.get('location')).toBe(`/v1/companies/${created.body.id}`)
    expect(created.body).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
      ...body,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updatedAt: created.body.createdAt,
    })

    const path = `/v1/companies/${created.body.id}`
    expect((await call('GET', path, { key })).body).toEqual(created.body)

    const renamed = await call('PATCH', path, { key, body: { name: 'Acme' } })
    expect(renamed.status).toBe(200)
    expect(renamed.body).toMatchObject({ name: 'Acme', logoUrl: body.logoUrl })

    expect((await call('DELETE', path, { key })).status).toBe(204)
    expect((await call('GET', path, { key })).status).toBe(404)
    expect((await call('DELETE', path, { key })).status).toBe(404)
  })

  it('removes its logo with null and stores a URL as given', async () => {
    const { id } = await makeCompany(server, key)
    const asGiven = 'https://CDN.Example.com:443/a%20b/../logo.PNG?x=1#top'
    const set = await call('PATCH', `/v1/companies/${id}`, { key, body: { logoUrl: asGiven } })
    expect(set.body.logoUrl).toBe(asGiven)
    const removed = await call('PATCH', `/v1/companies/${id}`, { key, body: { logoUrl: null } })
    expect(removed.body.logoUrl).toBeNull()
  })

  it.each([
    'http://cdn.example.com/a.png',
    'https://user:pass@cdn.example.com/a.png',
    'https://localhost/a.png',
    'https://127.0.0.1/a.png',
    'https://2130706433/a.png',
    'https://0x7f.1/a.png',
    'https://[::1]/a.png',
    'https://[::ffff:10.0.0.1]/a.png',
    'https://intranet/a.png',
    'https://printer.local/a.png',
    'ftp://cdn.example.com/a.png',
    'javascript:alert(1)',
    'cdn.example.com/a.png',
    ' https://cdn.example.com/a.png',
    `https://cdn.example.com/${'a'.repeat(2_048)}`,
    '',
  ])('rejects the logo URL %s and changes nothing', async (logoUrl) => {
    const company = await makeCompany(server, key)
    const answer = await call('PATCH', `/v1/companies/${company.id}`, { key, body: { name: 'Changed', logoUrl } })
    expect(answer.status).toBe(400)
    expect(answer.body.details.issues).toEqual([{ path: 'logoUrl', message: expect.any(String) }])
    expect((await call('GET', `/v1/companies/${company.id}`, { key })).body).toEqual(company)
  })

  it.each([
    'https:example.com/a',
    'https:/example.com/a',
    'https:////example.com/a',
    'https:\\\\example.com\\a',
    'https://example.com\\@evil.com/',
    'https://example.com/a\\b',
    'https://ex\u00adample.com/a',
    'https://ｅxample.com/a',
    'https://0x08080808/a',
  ])('rejects the logo URL %j, which programs parse differently', async (logoUrl) => {
    const company = await makeCompany(server, key)
    const answer = await call('PATCH', `/v1/companies/${company.id}`, { key, body: { logoUrl } })
    expect([answer.status, answer.body.details?.issues?.[0]?.path]).toEqual([400, 'logoUrl'])
  })

  it.each(['https://bücher.example.com/a.png', 'https://xn--bcher-kva.example.com', 'HTTPS://example.com:8443?logo'])(
    'accepts the logo URL %s as given',
    async (logoUrl) => {
      const company = await makeCompany(server, key)
      const answer = await call('PATCH', `/v1/companies/${company.id}`, { key, body: { logoUrl } })
      expect(answer.body.logoUrl).toBe(logoUrl)
    },
  )

  it('accepts a logo URL of 2,048 characters', async () => {
    const { id } = await makeCompany(server, key)
    const start = 'https://cdn.example.com/'
    const logoUrl = start + 'a'.repeat(2_048 - start.length)
    expect((await call('PATCH', `/v1/companies/${id}`, { key, body: { logoUrl } })).body.logoUrl).toBe(logoUrl)
  })

  it.each([{}, { title: 'Acme' }, { name: '' }, { name: '   ' }, { name: 5 }, { name: null }, []])(
    'rejects the change %j',
    async (body) => {
      const { id } = await makeCompany(server, key)
      expect((await call('PATCH', `/v1/companies/${id}`, { key, body })).status).toBe(400)
    },
  )
})

describe('the list', () => {
  it('pages newest first and stays stable while companies are added', async () => {
    const ids: string[] = []
    for (let i = 0; i < 5; i++) ids.unshift((await makeCompany(server, key, `Company ${i}`)).id)

    const first = await call('GET', '/v1/companies?limit=2', { key })
    expect(first.body.data.map((company: { id: string }) => company.id)).toEqual(ids.slice(0, 2))
    await makeCompany(server, key, 'Latecomer')
    const second = await call('GET', `/v1/companies?limit=2&cursor=${first.body.nextCursor}`, { key })
    expect(second.body.data.map((company: { id: string }) => company.id)).toEqual(ids.slice(2, 4))
    const third = await call('GET', `/v1/companies?limit=2&cursor=${second.body.nextCursor}`, { key })
    expect(third.body.data.map((company: { id: string }) => company.id)).toEqual(ids.slice(4))
    expect(third.body.nextCursor).toBeNull()
  })

  it('is empty at first', async () => {
    expect((await call('GET', '/v1/companies', { key })).body).toEqual({ data: [], nextCursor: null })
  })

  it.each([
    'limit=0',
    'limit=201',
    'limit=many',
    'limit=1.5',
    'limit=',
    'cursor=',
    'cursor=bm9uc2Vuc2U',
    'page=2',
    'limit=2&limit=3',
  ])('rejects ?%s', async (query) => {
    const answer = await call('GET', `/v1/companies?${query}`, { key })
    expect(answer.status).toBe(400)
    expect(answer.body.details.issues[0].path).toBe(query.split('=')[0])
  })

  it('rejects a cursor of another list or organization, and a modified one', async () => {
    for (let i = 0; i < 2; i++) await makeCompany(server, key)
    const { nextCursor } = (await call('GET', '/v1/companies?limit=1', { key })).body
    const other = await makeOrganization(server)
    const last = nextCursor.endsWith('A') ? 'B' : 'A'
    for (const [path, caller] of [
      [`/v1/members?cursor=${nextCursor}`, key],
      [`/v1/companies?cursor=${nextCursor}`, other.key],
      [`/v1/companies?cursor=${nextCursor.slice(0, -1)}${last}`, key],
    ]) {
      expect((await call('GET', path as string, { key: caller as string })).status).toBe(400)
    }
  })
})

describe('a logo', () => {
  const upload = (id: string, raw: Uint8Array<ArrayBuffer>, type = 'image/png') =>
    call('PUT', `/v1/companies/${id}/logo`, { key, raw, headers: { 'content-type': type } })

  it('is stored and served permanently, with the type of its content', async () => {
    const { id } = await makeCompany(server, key)
    const answer = await upload(id, png, 'image/gif')
    expect(answer.status).toBe(200)
    const { logoUrl } = answer.body
    expect(logoUrl).toMatch(new RegExp(`^${server.origin}/files/`))

    const file = await fetch(logoUrl)
    expect(file.status).toBe(200)
    expect(Buffer.from(await file.arrayBuffer())).toEqual(png)
    expect(Object.fromEntries(file.headers)).toMatchObject({
      'content-type': 'image/png',
      'content-length': String(png.length),
      'content-disposition': 'inline',
      'content-security-policy': 'sandbox',
      'x-content-type-options': 'nosniff',
      'cache-control': 'public, max-age=31536000, immutable',
    })
  })

  it('is served in ranges', async () => {
    const { id } = await makeCompany(server, key)
    const { logoUrl } = (await upload(id, png)).body
    const part = await fetch(logoUrl, { headers: { range: 'bytes=1-3' } })
    expect(part.status).toBe(206)
    expect(part.headers.get('content-range')).toBe(`bytes 1-3/${png.length}`)
    expect(await part.text()).toBe('PNG')
    const beyond = await fetch(logoUrl, { headers: { range: `bytes=${png.length}-` } })
    expect(beyond.status).toBe(416)
    expect(beyond.headers.get('content-range')).toBe(`bytes */${png.length}`)
    expect(await beyond.json()).toMatchObject({ error: 'range not satisfiable' })
    const head = await fetch(logoUrl, { method: 'HEAD' })
    expect(head.headers.get('content-length')).toBe(String(png.length))
  })

  it('stays if a client sends back its URL', async () => {
    const { id } = await makeCompany(server, key)
    const { logoUrl } = (await upload(id, png)).body
    const answer = await call('PATCH', `/v1/companies/${id}`, { key, body: { name: 'Renamed', logoUrl } })
    expect(answer).toMatchObject({ status: 200, body: { name: 'Renamed', logoUrl } })
    await server.drain()
    expect((await fetch(logoUrl)).status).toBe(200)
  })

  it.each(['replaced', 'removed', 'deleted with its company'])('is deleted when %s', async (how) => {
    const { id } = await makeCompany(server, key)
    const { logoUrl } = (await upload(id, png)).body
    if (how === 'replaced') await upload(id, png)
    else if (how === 'removed') await call('PATCH', `/v1/companies/${id}`, { key, body: { logoUrl: null } })
    else await call('DELETE', `/v1/companies/${id}`, { key })
    await server.drain()
    expect((await fetch(logoUrl)).status).toBe(404)
  })

  it('is deleted a day later if a crash left it without a company', async () => {
    const { id } = await makeCompany(server, key)
    const { logoUrl } = (await upload(id, png)).body
    const orphan = `${(await call('GET', '/v1/organization', { key })).body.id}/logos/orphan.png`
    await server.deps.blobs.put(orphan, [png], { contentType: 'image/png' })
    const sweep = async () => {
      await server.deps.jobs.enqueue(server.deps.db, sweepLogos, {})
      await server.drain()
    }
    await sweep()
    expect(await server.deps.blobs.head(orphan)).toBeDefined()
    server.clock.advance(25 * 60 * 60 * 1_000)
    await sweep()
    expect(await server.deps.blobs.head(orphan)).toBeUndefined()
    expect((await fetch(logoUrl)).status).toBe(200)
  })

  it('is rejected unless it is a raster image, whatever it claims', async () => {
    const { id } = await makeCompany(server, key)
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')
    expect((await upload(id, svg, 'image/svg+xml')).status).toBe(415)
    expect((await upload(id, svg, 'image/png')).status).toBe(415)
    expect((await upload(id, Buffer.alloc(0), 'image/png')).status).toBe(415)
    expect((await upload(id, png, 'application/octet-stream')).status).toBe(415)
    expect((await call('PUT', `/v1/companies/${id}/logo`, { key })).status).toBe(415)
    expect((await upload(id, Buffer.concat([png, Buffer.alloc(2 * 1024 * 1024)]))).status).toBe(413)
    expect((await call('GET', `/v1/companies/${id}`, { key })).body.logoUrl).toBeNull()
  })

  it('has a link that cannot be modified', async () => {
    const { id } = await makeCompany(server, key)
    const { logoUrl } = (await upload(id, png)).body
    const answer = await fetch(logoUrl.replace(/.$/, (last: string) => (last === 'A' ? 'B' : 'A')))
    expect(answer.status).toBe(403)
  })
})
