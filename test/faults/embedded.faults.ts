import { setTimeout as pause } from 'node:timers/promises'
import { expect, inject, it } from 'vitest'
import { ask, findPostmaster, listProcesses, makeDataDir, provision, startEarshot, takeFreePort } from '../earshot.ts'
import { seededRandom } from '../malformed.ts'

/** Tests that acknowledged data survives every kill, without manual intervention. */

const seed = inject('seeds')[0] ?? 1
const kills = Math.ceil(inject('rounds') / 5)
const writers = 8
const readyWithinMs = 15_000
const png = Buffer.from('89504e470d0a1a0a0000', 'hex')

type Company = { id: string; name: string; logoUrl: string | null }

it('killing the process and its database alternately under load loses nothing acknowledged', async () => {
  process.stdout.write(`embedded: seed ${seed}\n`)
  const random = seededRandom(seed)
  const dataDir = await makeDataDir()
  // Links to logos contain the port, so it stays the same.
  const port = await takeFreePort()
  const origin = `http://127.0.0.1:${port}`
  const switches = {
    PORT: String(port),
    EARSHOT_DATA_DIR: dataDir,
    EARSHOT_LIMITS: 'ratePerSecond=100000,rateBurst=100000',
  }
  let earshot = await startEarshot(switches)
  const { key } = await provision(origin)

  const acknowledged = new Map<string, Company>()
  const tried: string[] = []
  const unexpected: string[] = []
  let unanswered = 0
  let stopping = false

  /** Returns undefined if nothing shows whether the write was carried out: the response was lost, or is 503. */
  const write = async (method: string, path: string, expected: number, init: RequestInit) => {
    try {
      const response = await fetch(origin + path, {
        method,
        signal: AbortSignal.timeout(20_000),
        ...init,
        headers: { authorization: `Bearer ${key}`, ...init.headers },
      })
      const body = await response.json()
      if (response.status === expected) return body as Company
      if (response.status !== 503) unexpected.push(`${method} ${path}: ${response.status} ${JSON.stringify(body)}`)
    } catch (error) {
      // A killed process causes connection errors. All others are errors of this test.
      if (!(error instanceof TypeError)) unexpected.push(String(error))
    }
    unanswered++
    await pause(10)
    return undefined
  }

  const writeCompanies = async (writer: number) => {
    for (let count = 0; !stopping; count++) {
      const name = `Company ${writer}-${count}`
      tried.push(name)
      const headers = { 'content-type': 'application/json' }
      const company = await write('POST', '/v1/companies', 201, { headers, body: JSON.stringify({ name }) })
      if (!company) continue
      acknowledged.set(company.id, { ...company, name })
      if (count % 8 !== 0) continue
      const image = { headers: { 'content-type': 'image/png' }, body: png }
      const shown = await write('PUT', `/v1/companies/${company.id}/logo`, 200, image)
      if (shown) acknowledged.set(company.id, shown)
    }
  }

  const isReady = async () => {
    const response = await fetch(`${origin}/readyz`).catch(() => undefined)
    return response?.status === 200 && !stopping
  }
  const writing = Array.from({ length: writers }, (_, writer) => writeCompanies(writer))
  const recoveries: number[] = []
  for (let kill = 0; kill < kills; kill++) {
    const enough = acknowledged.size + 30 + random.below(100)
    await expect.poll(() => acknowledged.size, { timeout: readyWithinMs, interval: 5 }).toBeGreaterThan(enough)
    const before = acknowledged.size
    const beganAt = performance.now()
    if (kill % 2 === 0) {
      const pid = await findPostmaster(dataDir)
      process.kill(pid, 'SIGKILL')
      await expect.poll(() => findPostmaster(dataDir).catch(() => pid), { timeout: readyWithinMs }).not.toBe(pid)
    } else {
      earshot.child.kill('SIGKILL')
      await earshot.ended
      earshot = await startEarshot(switches)
    }
    await expect.poll(isReady, { timeout: readyWithinMs, interval: 20 }).toBe(true)
    recoveries.push(Math.round(performance.now() - beganAt))
    await expect.poll(() => acknowledged.size, { timeout: readyWithinMs, interval: 20 }).toBeGreaterThan(before)
  }
  stopping = true
  await Promise.all(writing)
  process.stdout.write(`embedded: ${acknowledged.size} acknowledged, ${unanswered} not, ready after ${recoveries} ms\n`)
  expect(unexpected).toEqual([])

  const listAll = async <T>(path: string): Promise<T[]> => {
    const items: T[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { status, body } = await ask(origin, 'GET', `${path}?limit=200${cursor && `&cursor=${cursor}`}`, key)
      expect(status).toBe(200)
      items.push(...body.data)
      cursor = body.nextCursor
    }
    return items
  }
  const stored = await listAll<Company>('/v1/companies')
  const byId = new Map(stored.map((company) => [company.id, company]))
  expect(byId.size).toBe(stored.length)
  const lost = [...acknowledged.values()].filter(({ id, name }) => byId.get(id)?.name !== name)
  expect(lost).toEqual([])
  // Each name was sent once, so an unacknowledged one exists at most once.
  const names = stored.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  expect(names.filter((name) => !tried.includes(name))).toEqual([])

  const withLogo = stored.filter(({ logoUrl }) => logoUrl !== null)
  const acknowledgedLogos = [...acknowledged.values()].filter(({ logoUrl }) => logoUrl !== null)
  expect(acknowledgedLogos.length).toBeGreaterThan(kills)
  expect(acknowledgedLogos.filter(({ id, logoUrl }) => byId.get(id)?.logoUrl !== logoUrl)).toEqual([])
  for (const { logoUrl } of withLogo) {
    const file = await fetch(String(logoUrl))
    expect(Buffer.from(await file.arrayBuffer())).toEqual(png)
  }

  type Event = { action: string; targets: { id: string }[] }
  const events = (await listAll<Event>('/v1/audit-events')).filter(({ action }) => action === 'company.create')
  expect(events.map(({ targets }) => targets[0]?.id).sort()).toEqual([...byId.keys()].sort())

  earshot.child.kill('SIGTERM')
  expect(await earshot.ended).toEqual({ code: 0, signal: null })
  await expect.poll(() => listProcesses(dataDir)).toEqual([])
})
