import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { expect, it, onTestFinished, vi } from 'vitest'
import { systemClock } from '../platform/clock.ts'
import { loadConfig } from '../platform/config.ts'
import type { Actor } from '../platform/identity/actor.ts'
import { newId, orgIdOf } from '../platform/ids.ts'
import { openStreams } from './send-events.ts'

const org = orgIdOf(newId())
const actor: Actor = {
  kind: 'user',
  org,
  keyId: null,
  userId: newId(),
  role: 'member',
  suspended: false,
  entitlements: { monitors: true, observability: true, metrics: true },
  features: { monitorExports: true, exportWebhooks: true, experimentsV2: true, phiMode: false },
  requestId: 'request',
}

/** Opens streams. The test controls when their lookups are answered. */
const open = async () => {
  const asked: PromiseWithResolvers<string[]>[] = []
  let notify: (payload: string) => void = () => {}
  let changeIdentity: (of: string) => void = () => {}
  const streams = await openStreams({
    config: loadConfig({ EARSHOT_LIMITS: 'streamsPerPerson=1' }),
    listener: {
      on: async (_channel, handler) => {
        notify = handler
      },
      isConnected: () => true,
      close: async () => {},
    },
    identity: {
      onChange: (handler) => {
        changeIdentity = handler
      },
    },
    clock: systemClock,
    metrics: { registry: new Registry() },
    log: pino({ level: 'silent' }),
    listBlindReviewers: () => {
      const answer = Promise.withResolvers<string[]>()
      asked.push(answer)
      return answer.promise
    },
  })
  onTestFinished(streams.close)
  return {
    asked,
    publish: (...resources: string[]) =>
      notify(`${org}${newId()}${JSON.stringify(resources.map((resource) => [resource, 'updated', []]))}`),
    changeIdentity: () => changeIdentity(org),
    read: (response: ServerResponse, identifyAgain = async () => ({ actor, expiresAt: null })) =>
      streams.open({ actor, response, lastEventId: undefined, identifyAgain }, () => {}),
  }
}

const respond = () => {
  const response = new ServerResponse(new IncomingMessage(new Socket()))
  const written: string[] = []
  vi.spyOn(response, 'write').mockImplementation((bytes: Buffer) => written.push(String(bytes)) > 0)
  return { response, written }
}

it('does not count a reader who left before they were identified', async () => {
  const { asked, read } = await open()
  const { response } = respond()
  response.destroy()
  await read(response)
  const opening = read(respond().response)
  asked[0]?.resolve([])
  await expect(opening).resolves.toBeUndefined()
})

it('writes nothing to a reader who lost access while the events were being read', async () => {
  const { asked, publish, changeIdentity, read } = await open()
  const { response, written } = respond()
  let isAllowed = true
  const opening = read(response, async () => {
    await turn()
    if (!isAllowed) throw new Error('access has ended')
    return { actor, expiresAt: null }
  })
  asked[0]?.resolve([])
  await opening
  publish('reviews', 'companies')
  await vi.waitUntil(() => asked.length === 2)
  isAllowed = false
  changeIdentity()
  asked[1]?.resolve([])
  await vi.waitUntil(() => response.writableEnded)
  expect(written.join('')).not.toContain('companies')
})
