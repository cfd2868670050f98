import { setTimeout as sleep } from 'node:timers/promises'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { makeModelProvider, makeOrganization } from '../../../test/make.ts'
import { fakeClock, testServer } from '../../../test/server.ts'
import { type Answering, serveProvider } from '../../../test/support/model-providers/stand-ins.ts'
import type { Clock } from '../../platform/clock.ts'
import { type ModelLink, openModels } from '../models.ts'

const server = await testServer({ EARSHOT_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.0/8' })

let owner: string
let key: string
beforeEach(async () => {
  const made = await makeOrganization(server)
  owner = made.id
  key = made.key
})

const prompt = { system: 'Judge.', user: 'x'.repeat(300), schema: { type: 'object', additionalProperties: false } }

type Process = { clock?: Clock; wait?: (ms: number, signal: AbortSignal) => Promise<unknown> }

/** Simulates a process with the shared database and its own queues. Returns its connection to the default provider. */
const openProcess = async ({ clock = server.clock, wait }: Process = {}): Promise<ModelLink> => {
  const { db, secrets, outbound, log, config } = server.deps
  const models = openModels({
    config: config.judge,
    clock,
    tenants: { db, secrets, outbound, log },
    ...(wait && { wait }),
  })
  onTestFinished(models.close)
  const chain = await models.find(owner, undefined)
  if ('fault' in chain) throw new Error(chain.fault)
  return chain.links[0]
}

const termsOf = (clock: Clock, patienceMs: number) => ({
  signal: new AbortController().signal,
  deadline: clock.now().getTime() + patienceMs,
  owner,
})

const makeProvider = async (limits: object, answering: Answering) => {
  const provider = await serveProvider('openai-compatible', answering)
  const { id } = await makeModelProvider(server, key, {
    kind: 'openai-compatible',
    settings: provider.settings,
    limits,
  })
  return { ...provider, id: id as string }
}

/** Returns the lease expiries of requests to the organization's providers. */
const listLeases = async (): Promise<number[]> => {
  const rows = await server.deps.db
    .selectFrom('model_provider_requests')
    .select('leased_until')
    .where('organization_id', '=', owner)
    .execute()
  return rows.map(({ leased_until }) => leased_until?.getTime() ?? 0)
}

const usage = { input: 90, output: 10 }

describe('the limits of a provider', () => {
  it('hold for requests at a time, however many processes send them', async () => {
    let open = 0
    let most = 0
    const provider = await makeProvider({ concurrency: 2 }, async () => {
      most = Math.max(most, ++open)
      await sleep(20)
      open--
      return { text: '{}', usage }
    })
    const processes = await Promise.all(Array.from({ length: 3 }, () => openProcess()))
    const terms = termsOf(server.clock, 600_000)
    const asking = processes.flatMap((link) => Array.from({ length: 6 }, () => link.ask(prompt, terms)))
    await Promise.all(asking)
    expect([provider.asked.length, most]).toEqual([18, 2])
  })

  it('hold for requests per minute', async () => {
    const clock = fakeClock()
    const waits: number[] = []
    const wait = async (ms: number) => {
      waits.push(ms)
      clock.advance(ms)
    }
    const provider = await makeProvider({ requestsPerMinute: 3 }, () => ({ text: '{}', usage }))
    const [first, second] = [await openProcess({ clock, wait }), await openProcess({ clock, wait })]
    for (const link of [first, second, first]) {
      await link.ask(prompt, termsOf(clock, 600_000))
      clock.advance(10_000)
    }
    expect(waits).toEqual([])
    await expect(second.ask(prompt, termsOf(clock, 20_000))).rejects.toMatchObject({
      kind: 'limited',
      message: 'the provider is limited to 3 requests per minute',
      retryAfterMs: 30_000,
    })
    await second.ask(prompt, termsOf(clock, 600_000))
    expect([provider.asked.length, waits]).toEqual([4, [30_000]])
  })

  it('hold for tokens per minute, which are counted as they were used', async () => {
    const clock = fakeClock()
    const waits: number[] = []
    const wait = async (ms: number) => {
      waits.push(ms)
      clock.advance(ms)
    }
    // A request is estimated at about 300 tokens but uses 100.
    const provider = await makeProvider({ tokensPerMinute: 550 }, () => ({ text: '{}', usage }))
    const link = await openProcess({ clock, wait })
    for (let time = 0; time < 3; time++) await link.ask(prompt, termsOf(clock, 600_000))
    expect(waits).toEqual([])
    await link.ask(prompt, termsOf(clock, 600_000))
    expect([provider.asked.length, waits]).toEqual([4, [60_000]])
  })

  it('let a request through that exceeds them by itself', async () => {
    await makeProvider({ tokensPerMinute: 10 }, () => ({ text: '{}', usage }))
    const link = await openProcess()
    expect(await link.ask(prompt, termsOf(server.clock, 1_000))).toMatchObject({ reply: { text: '{}' } })
  })

  it('are free again when a process died in a request', async () => {
    const clock = fakeClock()
    const never = new Promise<never>(() => {})
    await makeProvider({ concurrency: 1, timeoutSeconds: 3_600 }, (_, number) =>
      number === 1 ? never : { text: '{}', usage },
    )
    const wait = async (ms: number) => clock.advance(ms)
    const [dying, other] = [await openProcess({ clock, wait }), await openProcess({ clock, wait })]
    const died = new AbortController()
    // The process ends without freeing its slot.
    const lost = dying.ask(prompt, { ...termsOf(clock, 600_000), signal: died.signal }).catch(() => {})
    await expect.poll(async () => (await listLeases()).length).toBe(1)
    const startedAt = clock.now().getTime()
    expect(await other.ask(prompt, termsOf(clock, 600_000))).toMatchObject({ reply: { text: '{}' } })
    const waitedMs = clock.now().getTime() - startedAt
    expect(waitedMs).toBeGreaterThanOrEqual(60_000)
    expect(waitedMs).toBeLessThan(62_000)
    died.abort()
    await lost
  })

  it('count a request that takes long for as long as it takes', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const clock = fakeClock()
    const held = Promise.withResolvers<{ text: string }>()
    const provider = await makeProvider({ concurrency: 1, timeoutSeconds: 3_600 }, () => held.promise)
    const [slow, other] = [await openProcess({ clock }), await openProcess({ clock })]
    const first = slow.ask(prompt, termsOf(clock, 3_600_000))
    await expect.poll(() => provider.asked.length).toBe(1)
    for (let time = 0; time < 5; time++) {
      clock.advance(50_000)
      vi.advanceTimersByTime(20_000)
      await expect.poll(listLeases).toEqual([clock.now().getTime() + 60_000])
    }
    await expect(other.ask(prompt, termsOf(clock, 50))).rejects.toMatchObject({
      kind: 'limited',
      message: 'the provider is limited to 1 requests at a time',
    })
    held.resolve({ text: '{}' })
    expect(await first).toMatchObject({ reply: { text: '{}' } })
    expect(await listLeases()).toEqual([0])
  })

  it.each([
    ['disabled', 'PATCH', { status: 'disabled' }],
    ['changed', 'PATCH', { limits: { requestsPerMinute: 2 } }],
    ['deleted', 'DELETE', undefined],
  ])('let nothing through that waited for them while the provider was %s', async (_, method, body) => {
    const provider = await makeProvider({ requestsPerMinute: 1 }, () => ({ text: '{}', usage }))
    const wait = async () => {
      server.clock.advance(1)
      const { status } = await server.call(method, `/v1/model-providers/${provider.id}`, { key, body })
      expect(status).toBeLessThan(300)
    }
    const link = await openProcess({ wait })
    await link.ask(prompt, termsOf(server.clock, 600_000))
    await expect(link.ask(prompt, termsOf(server.clock, 600_000))).rejects.toMatchObject({
      name: 'EndpointError',
      kind: 'changed',
    })
    expect(provider.asked).toHaveLength(1)
  })

  it('of one organization do not hold for another', async () => {
    await makeProvider({ requestsPerMinute: 1 }, () => ({ text: '{}', usage }))
    const mine = await openProcess()
    await mine.ask(prompt, termsOf(server.clock, 1_000))
    const other = await makeOrganization(server)
    owner = other.id
    key = other.key
    await makeProvider({ requestsPerMinute: 1 }, () => ({ text: '{}', usage }))
    const theirs = await openProcess()
    expect(await theirs.ask(prompt, termsOf(server.clock, 1_000))).toMatchObject({ reply: { text: '{}' } })
  })
})
