// Opens the service on a separate database, with an experiment of twenty outcomes that was launched through the API.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { systemClock } from '../../server/platform/clock.ts'
import { loadConfig } from '../../server/platform/config.ts'
import { openDatabase } from '../../server/platform/db/database.ts'
import { orgIdOf } from '../../server/platform/ids.ts'
import { openJobs } from '../../server/platform/jobs/queue.ts'
import { openLog } from '../../server/platform/log.ts'
import { openReactions } from '../../server/reactions.ts'
import { openBenchDatabase, startServer } from '../servers.ts'
import { type AgentArms, beginEarlier, type ConversationRange, insertCompanies, insertRange } from './data.ts'

const serviceKey = 'service-key-of-the-bench-0123456789'
const told = 15
const scored = 5

/** A response of the service, as its OpenAPI document describes it. */
// biome-ignore lint/suspicious/noExplicitAny: there are many kinds of responses, and the benchmark knows their fields
export type ResponseBody = any

export const openStored = async () => {
  const database = await openBenchDatabase()
  const folder = join(database.folder, 'files')
  mkdirSync(folder, { recursive: true })
  const client = new pg.Client({ connectionString: database.url, options: '-c jit=off -c TimeZone=UTC' })
  const opened = openDatabase({ connection: { connectionString: database.url }, applicationName: 'bench' })
  const log = openLog({ write: (line) => process.stderr.write(line) })
  const startService = (roles: string) =>
    startServer(join(import.meta.dirname, '../../bin/earshot'), ['serve'], {
      PORT: '0',
      DATABASE_URL: database.url,
      EARSHOT_ROLES: roles,
      EARSHOT_STORAGE_SHARED: 'true',
      EARSHOT_DATA_DIR: folder,
      EARSHOT_SERVICE_KEY: serviceKey,
      EARSHOT_SECRET_KEY: 'a-secret-key-for-the-bench-0123456789',
    })
  // The service does not count by itself, because counting is measured in this process.
  const server = await startService('http')
  const jobs = openJobs({ database: opened, log })
  const config = loadConfig({ EARSHOT_DATA_DIR: folder })
  const reactions = openReactions(() => {
    throw new Error('Nothing follows what this benchmark stores.')
  })
  const deps = { config, clock: systemClock, db: opened.db, jobs, log, reactions, baseUrl: () => 'http://localhost' }
  const close = async () => {
    await server.stop()
    await client.end()
    await jobs.close()
    await opened.close()
    await database.close()
  }

  const send = async (
    method: string,
    path: string,
    { body, key }: { body?: object; key: string },
  ): Promise<ResponseBody> => {
    const response = await fetch(new URL(path, server.origin), {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text.slice(0, 500)}`)
    return JSON.parse(text)
  }

  try {
    await client.connect()
    const provision = { name: 'Bench', slug: 'bench', owner: { email: 'owner@example.com', name: 'Owner' } }
    const made = await send('POST', '/v1/organizations', { key: serviceKey, body: provision })
    const org = orgIdOf(made.organization.id)
    const key: string = made.apiKey.key
    const post = (path: string, body: object) => send('POST', path, { body, key })
    const agent = await post('/v1/agents', { name: 'Leo', channel: 'voice' })
    const prompts = ['You are Leo.', 'You are Leo. Be brief.']
    const versions: string[] = []
    for (const systemPrompt of prompts)
      versions.push((await post(`/v1/agents/${agent.id}/versions`, { systemPrompt })).id)
    const [armAVersionId = '', armBVersionId = ''] = versions
    const arms: AgentArms = { agentId: agent.id, armAVersionId, armBVersionId }
    const makeMonitors = async (count: number, fields: object) => {
      const ids: string[] = []
      for (let at = 0; at < count; at++) {
        ids.push((await post('/v1/monitors', { name: `Monitor ${Object.values(fields)[0]} ${at}`, ...fields })).id)
      }
      return ids
    }
    const toldIds = await makeMonitors(told, { kind: 'external', definition: {} })
    const minutes = 'double(conversation.durationSeconds) / 60.0'
    const definition = { expression: `${minutes} > 5.0`, score: minutes }
    const scoredIds = await makeMonitors(scored, { kind: 'rule', definition })
    await insertCompanies(client, org)
    const launched = await post('/v1/experiments', {
      name: 'Brevity',
      ...arms,
      outcomeMetricIds: [...toldIds, ...scoredIds],
      primaryMetricId: toldIds[0],
      expectedArmAPercent: 50,
      stableRoutingConfirmed: true,
    })
    await beginEarlier(client, org)
    const experimentId: string = launched.id
    return {
      client,
      deps,
      org,
      key,
      arms,
      toldIds,
      experimentId,
      post,
      close,
      startService,
      insert: (range: ConversationRange) => insertRange(client, org, arms, range),
      read: () => send('GET', `/v1/experiments/${experimentId}`, { key }),
    }
  } catch (error) {
    await close()
    throw error
  }
}

export type Stored = Awaited<ReturnType<typeof openStored>>
