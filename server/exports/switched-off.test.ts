import { describe, expect, it } from 'vitest'
import { serviceKey, testServer } from '../../test/server.ts'
import { exportsOf } from '../../test/support/exports/exports.ts'
import { orgIdOf } from '../platform/ids.ts'
import { jobList } from '../worker.ts'
import { lockLine } from './queries.ts'

/** Tests that no file is created for an organization that can't download it. */

const server = await testServer()
const { call, deps } = server
const { makeCalls, ask, read } = exportsOf(server)

/** Changes an organization with the service key, which works even if the organization is suspended. */
const change = async (method: 'POST' | 'PATCH', path: string, body?: object) => {
  const { status, text } = await call(method, `/v1/organizations/${path}`, { key: serviceKey, ...(body && { body }) })
  if (status !== 200) throw new Error(text)
}

const switches = [
  {
    what: 'its organization is suspended',
    off: (org: string) => change('POST', `${org}/suspend`),
    on: (org: string) => change('POST', `${org}/reactivate`),
  },
  {
    what: 'the entitlement monitors is lost',
    off: (org: string) => change('PATCH', org, { entitlements: { monitors: false } }),
    on: (org: string) => change('PATCH', org, { entitlements: { monitors: true } }),
  },
  {
    what: 'the feature monitorExports is disabled',
    off: (org: string) => change('PATCH', org, { features: { monitorExports: false } }),
    on: (org: string) => change('PATCH', org, { features: { monitorExports: true } }),
  },
]

const filesOf = async (org: string): Promise<string[]> => {
  const keys: string[] = []
  for await (const { key } of deps.blobs.list(`${org}/exports/`)) keys.push(key)
  return keys
}

/**
 * Runs the jobs, and disables the feature once the file is being written. The export can't end before that, because its
 * queue is locked.
 */
const drainWhile = async (org: string, off: () => Promise<void>) => {
  const generating = Promise.withResolvers<void>()
  const observed = Object.defineProperty({ ...deps }, 'database', {
    get: () => {
      generating.resolve()
      return deps.database
    },
  })
  const drained = await deps.db.transaction().execute(async (trx) => {
    await lockLine(trx, orgIdOf(org))
    const draining = deps.jobs.drain(jobList, observed)
    await Promise.race([generating.promise, draining])
    await off()
    return { draining }
  })
  await drained.draining
}

const failed = { status: 'failed', errorCode: 'generation_failed', rowCount: 0, bytes: null, downloadPath: null }

describe.each(switches)('when $what', ({ off, on }) => {
  it('a waiting export fails, and so do those behind it', async () => {
    const { org, key, config } = await makeCalls(1)
    const ids: string[] = []
    for (let at = 0; at < 3; at++) ids.push((await ask(key, config)).body.id)
    await off(org)
    await server.drain()
    await on(org)
    for (const id of ids) expect(await read(key, id)).toMatchObject(failed)
    const { body: next } = await ask(key, config)
    await server.drain()
    expect(await read(key, next.id)).toMatchObject({ status: 'completed', rowCount: 1 })
    expect(await filesOf(org)).toHaveLength(1)
  })

  it('an export being written fails, and leaves no file', async () => {
    const { org, key, config } = await makeCalls(1)
    const { body } = await ask(key, config)
    await drainWhile(org, () => off(org))
    await server.drain()
    await on(org)
    expect(await read(key, body.id)).toMatchObject({ ...failed, rowCount: expect.any(Number) })
    expect(await filesOf(org)).toEqual([])
  })
})

it('another organization is not affected', async () => {
  const [one, other] = [await makeCalls(1), await makeCalls(1)]
  const { body } = await ask(other.key, other.config)
  await change('POST', `${one.org}/suspend`)
  await server.drain()
  expect(await read(other.key, body.id)).toMatchObject({ status: 'completed', rowCount: 1 })
})
