import { beforeAll, expect, it } from 'vitest'
import { makeConversations, makeOrganization } from '../../../test/make.ts'
import { testServer } from '../../../test/server.ts'

const server = await testServer()
const { call } = server

let key = ''
beforeAll(async () => {
  key = (await makeOrganization(server)).key
  const metadata = [
    { plan: 'gold', Place: 'Berlin', seats: 3 },
    { plan: 'gold', seats: 3, vip: true },
    { plan: 'Green', seats: 12, 'a/b %': 'x' },
    { plan: null, notes: { long: 1 } },
    { plan: 'x'.repeat(501) },
    {},
  ]
  await makeConversations(
    server,
    key,
    metadata.map((each) => ({ metadata: each })),
  )
})

const get = async (path: string) => {
  const { status, text, body } = await call('GET', `/v1/metadata-keys${path}`, { key })
  expect(status, text).toBe(200)
  return body.data.map((row: { key?: string; value?: string; count: number }) => [row.key ?? row.value, row.count])
}

it('keys are listed by frequency, and by prefix', async () => {
  expect(await get('')).toEqual([
    ['plan', 4],
    ['seats', 3],
    ['Place', 1],
    ['a/b %', 1],
    ['notes', 1],
    ['vip', 1],
  ])
  expect(await get('?prefix=PL')).toEqual([
    ['plan', 4],
    ['Place', 1],
  ])
  expect(await get('?prefix=%25')).toEqual([])
})

it('values are listed by frequency as in filters, and by prefix', async () => {
  expect(await get('/plan/values')).toEqual([
    ['gold', 2],
    ['Green', 1],
  ])
  expect(await get('/plan/values?prefix=gr')).toEqual([['Green', 1]])
  expect(await get('/plan/values?prefix=silver')).toEqual([])
  expect(await get('/seats/values')).toEqual([
    ['3', 2],
    ['12', 1],
  ])
  expect(await get('/vip/values')).toEqual([['true', 1]])
  expect(await get('/notes/values')).toEqual([])
  expect(await get(`/${encodeURIComponent('a/b %')}/values`)).toEqual([['x', 1]])
})

it('only the organization’s own conversations are read', async () => {
  const stranger = await makeOrganization(server)
  expect((await call('GET', '/v1/metadata-keys', { key: stranger.key })).body).toEqual({ data: [] })
  expect((await call('GET', '/v1/metadata-keys/plan/values', { key: stranger.key })).status).toBe(404)
  expect((await call('GET', '/v1/metadata-keys/unknown/values', { key })).status).toBe(404)
})
