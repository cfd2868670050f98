// Shared helpers for tests of experiments.

import { expect } from 'vitest'
import { makeArms, makeConversation, makeLaunch, makeOrganization } from '../../make.ts'
import type { TestServer } from '../../server.ts'

export type ArmLabel = 'A' | 'B'

/** Creates an organization that has an agent with two versions, and returns functions that use it. */
export const openExperiments = async (server: TestServer, switches: object = {}) => {
  const { call } = server
  const { id: org, key } = await makeOrganization(server, switches)
  const arms = await makeArms(server, key)

  const tryLaunch = async (fields: object = {}) =>
    call('POST', '/v1/experiments', { key, body: await makeLaunch(server, key, { ...arms, ...fields }) })

  const launch = async (fields: object = {}) => {
    const answer = await tryLaunch(fields)
    expect(answer.status, answer.text).toBe(201)
    return answer.body as { id: string; outcomeMetricIds: string[] }
  }

  /** Creates a call with the agent version of an arm. */
  const converse = async (arm: ArmLabel, fields: object = {}): Promise<string> => {
    const made = await makeConversation(server, key, {
      agent: undefined,
      agentId: arms.agentId,
      agentVersionId: arms[`arm${arm}VersionId`],
      startedAt: server.clock.now().toISOString(),
      ...fields,
    })
    return made.id
  }

  /** Sends a result of an external monitor. */
  const tell = async (monitorId: string | undefined, conversationId: string, result: string, fields: object = {}) => {
    const body = { results: [{ monitorId, conversationId, result, ...fields }] }
    const answer = await call('POST', '/v1/monitor-results', { key, body })
    expect(answer.body.data[0].error).toBeUndefined()
  }

  /** Returns an experiment after everything is counted. */
  const read = async ({ id }: { id: string }) => {
    await server.drain()
    const answer = await call('GET', `/v1/experiments/${id}`, { key })
    expect(answer.status, answer.text).toBe(200)
    return answer.body
  }

  const finish = ({ id }: { id: string }) => call('POST', `/v1/experiments/${id}/finish`, { key })

  const patch = async (conversationId: string, body: object) => {
    const answer = await call('PATCH', `/v1/conversations/${conversationId}`, { key, body })
    expect(answer.status, answer.text).toBe(200)
  }

  const erase = async (conversationId: string) => {
    expect((await call('DELETE', `/v1/conversations/${conversationId}`, { key })).status).toBe(204)
  }

  return { org, key, arms, tryLaunch, launch, converse, tell, read, finish, patch, erase }
}

export type Experiments = Awaited<ReturnType<typeof openExperiments>>

/**
 * Compares all numbers except those that depend on dates. `tolerance` is relative to the number, or to 1 if the number
 * is smaller.
 */
export const expectSame = (found: unknown, wanted: unknown, path: string, tolerance: number): void => {
  if (typeof wanted === 'number' && typeof found === 'number') {
    const near = Math.abs(found - wanted) <= tolerance * Math.max(1, Math.abs(wanted))
    if (!near) expect({ [path]: found }).toEqual({ [path]: wanted })
  } else if (typeof wanted === 'object' && wanted !== null && typeof found === 'object' && found !== null) {
    for (const [key, value] of Object.entries(wanted)) {
      if (key !== 'moreDays') expectSame((found as Record<string, unknown>)[key], value, `${path}.${key}`, tolerance)
    }
  } else {
    expect({ [path]: found }).toEqual({ [path]: wanted })
  }
}
