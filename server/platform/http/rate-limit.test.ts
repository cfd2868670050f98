import { describe, expect, it } from 'vitest'
import { makeKey, makeOrganization } from '../../../test/make.ts'
import { serviceKey, testServer } from '../../../test/server.ts'
import { generateKey } from '../identity/keys.ts'
import { tokenBuckets } from './rate-limit.ts'

describe('a token bucket', () => {
  const fill = () => {
    let time = 0
    const buckets = tokenBuckets({ perSecond: 10, burst: 5 }, () => time)
    const pass = (ms: number) => {
      time += ms
    }
    return { ...buckets, pass }
  }

  it('has its burst immediately, then a rate, and never saves more', () => {
    const { take, pass } = fill()
    expect([take('a'), take('a'), take('a'), take('a'), take('a'), take('a')]).toEqual([4, 3, 2, 1, 0, -1])
    pass(99)
    expect(take('a')).toBe(-1)
    pass(1)
    expect([take('a'), take('a')]).toEqual([0, -1])
    pass(60_000)
    expect(take('a')).toBe(4)
  })

  it('is separate for each caller', () => {
    const { take } = fill()
    for (let i = 0; i < 6; i++) take('a')
    expect([take('a'), take('b')]).toEqual([-1, 4])
  })

  it('stays bounded with any number of callers, and only drops full ones', () => {
    const { take, pass } = fill()
    for (let i = 0; i < 6; i++) take('busy')
    for (let i = 0; i < 9_990; i++) take(`caller ${i}`)
    pass(450)
    for (let i = 0; i < 10; i++) expect(take('busy')).toBe(3 - i < 0 ? -1 : 3 - i)
    for (let i = 0; i < 100; i++) take(`later ${i}`)
    expect(take('busy')).toBe(-1)
  })
})

describe('a key that exceeds its limit', async () => {
  const server = await testServer({ EARSHOT_LIMITS: 'ratePerSecond=1,rateBurst=5' })
  const { call } = server

  it('sees what is left, then 429 and when to retry; others are not delayed', async () => {
    const org = await makeOrganization(server)
    const answers = []
    for (let i = 0; i < 6; i++) answers.push(await call('GET', '/v1/me', { key: org.key }))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429])
    expect(answers[0]?.headers.get('ratelimit-policy')).toBe('"default";q=5;w=5')
    expect(answers[0]?.headers.get('ratelimit')).toBe('"default";r=4;t=1')
    const last = answers[5]
    expect(last?.headers.get('ratelimit')).toBe('"default";r=0;t=5')
    expect(last?.headers.get('retry-after')).toBe('1')
    expect(last?.body).toMatchObject({ error: 'rate limited', details: { retryAfterSeconds: 1 } })
    const other = await makeOrganization(server)
    expect((await call('GET', '/v1/me', { key: other.key })).status).toBe(200)
  })

  it('is limited separately from other keys of the organization', async () => {
    const org = await makeOrganization(server)
    const { key } = await makeKey(server, org.key, 'viewer')
    await expect.poll(async () => (await call('GET', '/v1/me', { key: org.key })).status, { interval: 1 }).toBe(429)
    expect((await call('GET', '/v1/me', { key })).status).toBe(200)
  })
})

describe('unknown keys', async () => {
  const server = await testServer({ EARSHOT_TRUST_PROXY: '1' })
  const { call } = server
  const from = (address: string) => ({ 'x-forwarded-for': address })

  it('are limited by their IP address, and known keys are not', async () => {
    const { key } = await makeOrganization(server)
    const guess = (address: string) =>
      call('GET', '/v1/me', { headers: { ...from(address), authorization: `Bearer ${generateKey()}` } })
    /**
     * Returns whether one of several guesses is limited. Twenty more guesses are allowed each second, so on a slow
     * machine, one may be allowed in between.
     */
    const isLimitedWithin = async (guesses: number, address: string) => {
      const statuses = new Set<number>()
      for (let i = 0; i < guesses && !statuses.has(429); i++) statuses.add((await guess(address)).status)
      return statuses.has(429)
    }
    expect(await isLimitedWithin(150, '203.0.113.9')).toBe(false)
    expect(await isLimitedWithin(2_000, '203.0.113.9')).toBe(true)
    expect((await guess('203.0.113.10')).status).toBe(401)
    // Only the nearest proxy is trusted, so the caller's own claim has no effect.
    expect(await isLimitedWithin(100, '198.51.100.7, 203.0.113.9')).toBe(true)
    expect((await call('GET', '/v1/me', { key, headers: from('203.0.113.9') })).status).toBe(200)
    expect((await call('GET', '/v1/organizations', { key: serviceKey, headers: from('203.0.113.9') })).status).toBe(200)
  })
})
