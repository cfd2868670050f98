import { once } from 'node:events'
import pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { ask, provision, runEarshot, runInOne, startEarshot, switchesOnTestDatabase } from '../../test/earshot.ts'
import { makeDelivery, makeExportSchedule, makeOrganization, makeSyncedIntegration } from '../../test/make.ts'
import { testServer } from '../../test/server.ts'
import { sealSecret } from '../export-schedules/secret.ts'
import { readKeyCheck } from '../platform/db/instance.ts'
import { orgIdOf } from '../platform/ids.ts'
import { queueMail } from '../platform/mail/mail.ts'
import { claimSecretKey } from '../platform/secrets/key-check.ts'
import { openSecrets } from '../platform/secrets/secrets.ts'
import { listStoredSecrets } from './stored-secrets.ts'

const server = await testServer()
const { deps } = server
const { db } = deps
const listStored = listStoredSecrets
const lost = openSecrets('a-secret-key-that-nobody-has-any-more')

const sealSomething = async (secrets = deps.secrets) => {
  const org = await makeOrganization(server)
  const mail = { to: ['ada@example.com'], subject: 'A link', text: 'A link' }
  await queueMail(deps, db, orgIdOf(org.id), mail, { sealWith: secrets })
  return org
}

it('lists sealed texts of every kind, each with the context that decrypts it', async () => {
  const { id, key } = await sealSomething()
  await makeSyncedIntegration(server, key)
  await makeDelivery(server, key)
  const schedule = await makeExportSchedule(server, key)
  const secret = sealSecret(deps.secrets, id, schedule.id, 'the secret of a bucket')
  const destination = JSON.stringify({ type: 's3' })
  await db.updateTable('export_schedules').set({ secret, destination }).where('id', '=', schedule.id).execute()
  const listed = await listStored(db)
  for (const { sealed, context } of listed) expect(() => deps.secrets.open(sealed, context), context).not.toThrow()
  const kinds = listed.map(({ context }) => context.replaceAll(/[0-9a-f-]{36}/g, 'ID'))
  expect(new Set(kinds)).toEqual(
    new Set([
      'ID/integration/ID/secret',
      'ID/integration/ID/sync-key',
      'ID/delivery/ID',
      'ID/webhook-endpoint/ID/secret',
      'ID/export-schedule/ID/secret',
      'ID/mail/ID',
    ]),
  )
})

it('only accepts the first key if it decrypts a stored secret', async () => {
  await sealSomething()
  expect(await readKeyCheck(db)).toBeNull()
  await expect(claimSecretKey({ db, secrets: lost, listStored })).rejects.toThrow(
    'differs from the one used with this database',
  )
  expect(await readKeyCheck(db)).toBeNull()
  // Some stored secrets may have been sealed with a key that was lost.
  server.clock.advance(1_000)
  await sealSomething(lost)
  await claimSecretKey({ db, secrets: deps.secrets, listStored })
  expect(await readKeyCheck(db)).not.toBeNull()
  await expect(claimSecretKey({ db, secrets: lost, listStored })).rejects.toThrow(
    'differs from the one used with this database',
  )
})

it('prevents an upgraded service from starting with another key', async () => {
  const switches = await switchesOnTestDatabase()
  const { origin, child } = await startEarshot(switches)
  const { key } = await provision(origin)
  const body = { provider: 'vapi', name: 'Front desk', secret: 'the-secret-of-a-provider' }
  expect((await ask(origin, 'POST', '/v1/integrations', key, body)).status).toBe(201)
  const ended = once(child, 'close')
  child.kill('SIGTERM')
  await ended
  const client = new pg.Client(switches.DATABASE_URL)
  await client.connect()
  onTestFinished(() => client.end())
  // Earlier versions did not store the check.
  await client.query('UPDATE instance SET key_check = NULL')
  const other = { ...switches, EARSHOT_SECRET_KEY: 'another-secret-key-of-the-operator' }
  for (const refused of [await runInOne(['doctor'], other), await runEarshot(['serve'], other)]) {
    const { code, stdout, stderr } = refused
    expect([code, stdout + stderr]).toEqual([
      1,
      expect.stringContaining('differs from the one used with this database'),
    ])
  }
  expect((await client.query('SELECT key_check FROM instance')).rows).toEqual([{ key_check: null }])
}, 120_000)
