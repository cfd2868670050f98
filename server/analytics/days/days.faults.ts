import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, inject, it } from 'vitest'
import { databaseUrl } from '../../../test/database.ts'
import { makeDataDir, startEarshot } from '../../../test/earshot.ts'
import { seededRandom } from '../../../test/malformed.ts'
import { testServer } from '../../../test/server.ts'
import { expectExact, randomQuery } from '../../../test/support/analytics/brute-force.ts'
import { openHistory } from '../../../test/support/analytics/history.ts'
import { minuteMs } from '../../platform/durations.ts'
import { buildNext } from './build.ts'
import { listChangedHours } from './queries.ts'

/**
 * Kills processes that store sums at any moment, while conversations change. Every answer must be exact at all times.
 */

const seed = inject('seeds')[0] ?? 1
const rounds = inject('rounds')

const server = await testServer()
const { deps } = server
const builderFile = join(import.meta.dirname, '../../../test/support/analytics/builder-process.ts')

it(`answers are exact even if builds are killed (seed ${seed})`, { timeout: 300_000 }, async () => {
  const random = seededRandom(seed)
  const history = await openHistory(server, random)
  const { org } = history
  for (let changes = 0; changes < 1_600; ) changes += await history.step()
  const dataDir = await makeDataDir()
  const switches = {
    DATABASE_URL: databaseUrl(deps.database.connection),
    EARSHOT_DATA_DIR: dataDir,
    EARSHOT_SECRET_KEY: 'a-secret-key-for-this-test-0123456789',
  }
  const args = ['--disable-warning=ExperimentalWarning', builderFile, org]
  for (let round = 0; round < 2 * rounds; round++) {
    const builder = await startEarshot(switches, { file: process.execPath, args })
    const killing = pause(random.below(600)).then(() => builder.child.kill('SIGKILL'))
    for (let step = 0; step < 5; step++) await history.step()
    await expectExact(
      server,
      history,
      Array.from({ length: 4 }, () => randomQuery(random, history)),
    )
    await killing
    await builder.ended
    await expectExact(
      server,
      history,
      Array.from({ length: 6 }, () => randomQuery(random, history)),
    )
  }
  server.clock.advance(40 * minuteMs)
  while (await buildNext(deps, org));
  expect(await listChangedHours(deps.db, org, 'results')).toEqual([])
  await expectExact(
    server,
    history,
    Array.from({ length: 40 }, () => randomQuery(random, history)),
  )
})
