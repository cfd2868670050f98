import { utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { testServer } from '../../test/server.ts'
import { exportsOf } from '../../test/support/exports/exports.ts'
import { sweepFiles } from './stored-files.ts'

const server = await testServer()
const { deps, clock } = server
const { makeCalls, ask } = exportsOf(server)

const day = 86_400

it('a file that no export uses is deleted a day later, and everything else stays', async () => {
  const [ours, theirs] = [await makeCalls(1), await makeCalls(1)]
  for (const { key, config } of [ours, theirs]) await ask(key, config)
  await server.drain()
  const named = []
  for await (const { key } of deps.blobs.list('')) named.push(key)
  expect(named).toHaveLength(2)
  const kept = [`${ours.org}/recordings/one`, `${ours.org}/exports/new.csv`]
  const lost = [`${ours.org}/exports/old.csv`, `${theirs.org}/exports/old.csv`]
  // A file that another organization's export uses does not protect a file with the same name here.
  const foreign = named.filter((key) => key.startsWith(theirs.org)).map((key) => key.replace(theirs.org, ours.org))
  for (const key of [...kept, ...lost, ...foreign])
    await deps.blobs.put(key, [Buffer.from('x')], { contentType: 'text/csv' })
  const now = clock.now().getTime() / 1_000
  const touch = (key: string, at: number) => utimes(join(deps.config.dataDir, 'blobs', key), at, at)
  for (const key of [...named, ...kept, ...lost, ...foreign]) await touch(key, now - 2 * day)
  await touch(`${ours.org}/exports/new.csv`, now - day + 60)
  await deps.jobs.enqueue(deps.db, sweepFiles, {})
  await server.drain()
  const left = []
  for (const { org } of [ours, theirs]) for await (const { key } of deps.blobs.list(`${org}/`)) left.push(key)
  expect(left.sort()).toEqual([...named, ...kept].sort())
})
