import { describe, expect, it } from 'vitest'
import { makeAgent, makeKey, makeOrganization } from '../../../test/make.ts'
import { testServer } from '../../../test/server.ts'
import { templates } from './library/all.ts'

type ListedTemplate = {
  key: string
  name: string
  kind: 'rule' | 'judge'
  language: string
  anyLanguage: object | null
  examples: Record<'affected' | 'notAffected', object>
}

const server = await testServer()
const withModel = await testServer({
  EARSHOT_JUDGE_BASE_URL: 'http://127.0.0.1:9/v1',
  EARSHOT_JUDGE_MODEL: 'some-model',
  EARSHOT_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.1/32',
})

const listed = async (key: string, query = ''): Promise<ListedTemplate[]> =>
  (await server.call('GET', `/v1/monitor-templates${query}`, { key })).body.data

const install = (key: string, template: string, body: object = {}, at = server) =>
  at.call('POST', `/v1/monitor-templates/${template}/install`, { key, body })

describe('templates of monitors', () => {
  it('are listed by group, and filtered', async () => {
    const { key } = await makeOrganization(server)
    const all = await listed(key)
    expect(all.map((template) => template.key)).toEqual(templates.map((template) => template.key))
    expect(new Set(all.map((template) => template.key)).size).toBe(all.length)
    expect(new Set(all.map(({ name }) => name)).size).toBe(all.length)
    expect(all.length).toBeGreaterThanOrEqual(40)
    const voicemail = await listed(key, '?group=voicemail&language=any')
    expect(voicemail.map((template) => template.key)).toEqual(['message-without-number'])
    expect((await listed(key, '?kind=judge')).every(({ kind }) => kind === 'judge')).toBe(true)
  })

  it('all have a variant for any language', async () => {
    const { key } = await makeOrganization(server)
    const english = (await listed(key)).filter(({ language }) => language === 'en')
    expect(english.filter(({ anyLanguage }) => anyLanguage === null)).toEqual([])
  })

  it('find their own example, and not the other one', async () => {
    const { key } = await makeOrganization(server)
    const agent = await makeAgent(server, key)
    const rules = (await listed(key)).filter(({ kind }) => kind === 'rule')
    const monitorIds = new Map<string, string>()
    for (const { key: name } of rules) {
      const { status, body, text } = await install(key, name)
      expect(status, text).toBe(201)
      monitorIds.set(name, body.id)
    }
    const wrong: string[] = []
    for (const { key: name, examples } of rules) {
      for (const [result, example] of [
        ['affected', examples.affected],
        ['not_affected', examples.notAffected],
      ] as const) {
        const conversation = { ...example, agentId: agent.id, status: 'completed' }
        const { status, body, text } = await server.call('POST', '/v1/conversations', { key, body: conversation })
        expect(status, `${name}: ${text}`).toBe(201)
        await server.drain()
        const results = (await server.call('GET', `/v1/conversations/${body.id}/results?limit=200`, { key })).body.data
        const own = results.find(({ monitorId }: { monitorId: string }) => monitorId === monitorIds.get(name))
        if (own?.result !== result) wrong.push(`${name}: ${own?.result} instead of ${result}, ${own?.reasoning}`)
      }
    }
    expect(wrong).toEqual([])
  }, 120_000)

  it('of judges have examples that can be read', async () => {
    const { key } = await makeOrganization(server)
    const agent = await makeAgent(server, key)
    for (const { key: name, examples } of await listed(key, '?kind=judge')) {
      for (const example of [examples.affected, examples.notAffected]) {
        const conversation = { ...example, agentId: agent.id }
        const { body } = await server.call('POST', '/v1/conversations', { key, body: conversation })
        const transcript = await server.call('GET', `/v1/conversations/${body.id}/transcript`, { key })
        expect(transcript.body.turns.length, name).toBe((example as { transcript: object[] }).transcript.length)
      }
    }
  })

  it('become ordinary monitors, with a name of their own, also disabled', async () => {
    const { key } = await makeOrganization(server)
    const { status, body, headers } = await install(key, 'slow-responses', { name: 'Too slow', enabled: false })
    expect([status, headers.get('location')]).toEqual([201, `/v1/monitors/${body.id}`])
    expect(body).toMatchObject({ name: 'Too slow', enabled: false, kind: 'rule', currentVersion: { number: 1 } })
    expect((await server.call('GET', `/v1/monitors/${body.id}`, { key })).body).toEqual(body)
  })

  it('become judges with a model, and say what is missing without one', async () => {
    const { key } = await makeOrganization(withModel)
    for (const [name, body] of [
      ['off-topic', {}],
      ['asks-for-a-person', { variant: 'any_language' }],
    ] as const) {
      const installed = await install(key, name, body, withModel)
      expect(installed.status, installed.text).toBe(201)
      expect(installed.body).toMatchObject({
        kind: 'judge',
        currentVersion: { definition: { output: { type: 'boolean' } } },
      })
    }
    const { key: poor } = await makeOrganization(server)
    const refused = await install(poor, 'off-topic')
    expect([refused.status, refused.body.message]).toEqual([409, expect.stringContaining('EARSHOT_JUDGE_MODEL')])
    expect((await server.call('GET', '/v1/monitors', { key: poor })).body.data).toEqual([])
  })

  it('stay rules in the variant for any language if they have no words', async () => {
    const { key } = await makeOrganization(server)
    const { body } = await install(key, 'tool-failed', { variant: 'any_language' })
    expect(body.kind).toBe('rule')
  })

  it('are only installed by members, and only if they exist', async () => {
    const { key } = await makeOrganization(server)
    const { key: viewer } = await makeKey(server, key, 'viewer')
    expect((await install(viewer, 'tool-failed')).status).toBe(403)
    expect((await install(key, 'no-such-template')).status).toBe(404)
    expect((await install(key, 'tool-failed', { variant: 'french' })).status).toBe(400)
    expect((await install(key, 'tool-failed', { color: 'red' })).status).toBe(400)
  })
})
