import { beforeEach, describe, expect, it } from 'vitest'
import { makeMonitor, makeOrganization } from '../../../test/make.ts'
import { testServer } from '../../../test/server.ts'
import { newId, orgIdOf } from '../../platform/ids.ts'
import { insertMonitorVersion } from '../queries.ts'

const server = await testServer()
const { call } = server

let key: string
let org: string
let greeting: string
let refund: string
beforeEach(async () => {
  const made = await makeOrganization(server)
  key = made.key
  org = made.id
  greeting = (await makeMonitor(server, key)).id
  refund = (await makeMonitor(server, key)).id
})

type Fields = Record<string, unknown>

const item = (monitorId: string, fields: Fields = {}) => ({ monitorId, points: 10, ...fields })
const definitionOf = (items: Fields[], fields: Fields = {}) => ({
  sections: [{ name: 'All', items }],
  affectedBelow: 80,
  ...fields,
})

let names = 0
const create = (definition: unknown, fields: Fields = {}) =>
  call('POST', '/v1/monitors', {
    key,
    body: { name: `Scorecard ${++names}`, kind: 'scorecard', definition, ...fields },
  })

type Refusal = { status: number; body: { details?: { issues?: { path: string }[] } } }

const issuesOf = ({ status, body }: Refusal) => [status, ...(body.details?.issues ?? []).map(({ path }) => path)]

const first = 'definition.sections[0].items[0]'
const second = 'definition.sections[0].items[1]'

describe('a scorecard', () => {
  it('is stored with its defaults, its IDs in lower case, and its bands in order', async () => {
    const bands = [
      { name: 'Pass', from: 80 },
      { name: 'Fail', from: 0 },
    ]
    const items = [
      item(greeting.toUpperCase(), { version: 1 }),
      item(refund, { notApplicable: 'zero', autoFail: true }),
    ]
    const { status, body } = await create(definitionOf(items, { bands }))
    expect(status).toBe(201)
    const definition = {
      sections: [
        {
          name: 'All',
          items: [
            { monitorId: greeting, version: 1, points: 10, notApplicable: 'exclude', autoFail: false },
            { monitorId: refund, points: 10, notApplicable: 'zero', autoFail: true },
          ],
        },
      ],
      bands: [bands[1], bands[0]],
      affectedBelow: 80,
    }
    expect(body).toMatchObject({ kind: 'scorecard', currentVersion: { number: 1, definition } })
    const again = await call('PATCH', `/v1/monitors/${body.id}`, {
      key,
      body: { definition: definitionOf(items, { bands }) },
    })
    expect(again.body.currentVersion.number).toBe(1)
    const changed = await call('PATCH', `/v1/monitors/${body.id}`, { key, body: { definition: definitionOf(items) } })
    expect(changed.body.currentVersion).toMatchObject({ number: 2, definition: { bands: [] } })
    const { body: list } = await call('GET', '/v1/monitors?kind=scorecard', { key })
    expect(list.data.map(({ id }: { id: string }) => id)).toEqual([body.id])
  })

  it.each([
    ['definition.sections', { sections: [] }],
    ['definition.sections[0].items', { sections: [{ name: 'All', items: [] }] }],
    ['definition.sections[0].name', { sections: [{ name: ' ', items: [item(newId())] }] }],
    [`${first}.points`, definitionOf([item(newId(), { points: 0 })])],
    [`${first}.points`, definitionOf([item(newId(), { points: 1_000.01 })])],
    [`${first}.points`, definitionOf([item(newId(), { points: 0.001 })])],
    [`${first}.version`, definitionOf([item(newId(), { version: 0 })])],
    [`${first}.notApplicable`, definitionOf([item(newId(), { notApplicable: 'half' })])],
    [`${first}.weight`, definitionOf([item(newId(), { weight: 3 })])],
    [
      `${second}.monitorId`,
      definitionOf([item('0197a3b0-5e1c-7c3a-9a59-3f1f0c2d4e5f'), item('0197A3B0-5E1C-7C3A-9A59-3F1F0C2D4E5F')]),
    ],
    ['definition.affectedBelow', definitionOf([item(newId())], { affectedBelow: 101 })],
    ['definition.bands', definitionOf([item(newId())], { bands: [{ name: 'Pass', from: 80 }] })],
    [
      'definition.bands[1].from',
      definitionOf([item(newId())], {
        bands: [
          { name: 'Fail', from: 0 },
          { name: 'Pass', from: 0 },
        ],
      }),
    ],
    [
      'definition.bands[1].name',
      definitionOf([item(newId())], {
        bands: [
          { name: 'Fail', from: 0 },
          { name: 'Fail', from: 50 },
        ],
      }),
    ],
    [
      'definition.sections',
      { sections: Array.from({ length: 21 }, () => ({ name: 'All', items: [item(newId())] })), affectedBelow: 80 },
    ],
    [
      'definition.sections',
      {
        sections: Array.from({ length: 3 }, () => ({
          name: 'All',
          items: Array.from({ length: 34 }, () => item(newId())),
        })),
        affectedBelow: 80,
      },
    ],
  ])('is rejected with a fault at %s', async (path, definition) => {
    const answer = await create({ affectedBelow: 80, ...definition })
    expect(issuesOf(answer)).toEqual([400, path])
    expect((await call('GET', '/v1/monitors?kind=scorecard', { key })).body.data).toEqual([])
  })

  it('only contains monitors of the organization that exist in the named version and are no scorecards', async () => {
    const stranger = await makeOrganization(server)
    const foreign = (await makeMonitor(server, stranger.key)).id
    const { body: other } = await create(definitionOf([item(greeting)]))
    const items = [item(foreign), item(newId()), item(other.id), item(refund, { version: 2 }), item(greeting)]
    const answer = await create(definitionOf(items))
    expect(issuesOf(answer)).toEqual([
      400,
      `${first}.monitorId`,
      `${second}.monitorId`,
      'definition.sections[0].items[2].monitorId',
      'definition.sections[0].items[3].version',
    ])
    const change = { definition: definitionOf(items), name: 'Changed' }
    expect((await call('PATCH', `/v1/monitors/${other.id}`, { key, body: change })).status).toBe(400)
    expect((await call('GET', `/v1/monitors/${other.id}`, { key })).body).toEqual(other)
    // The API returned these IDs, so they are valid.
    await insertMonitorVersion(server.deps.db, orgIdOf(org), greeting, 2, {})
    const tooNew = await create(definitionOf([item(greeting, { version: 2 })]))
    expect(issuesOf(tooNew)).toEqual([400, `${first}.version`])
  })

  it('cannot be tried, because it is computed from stored results', async () => {
    const { body } = await create(definitionOf([item(greeting)]))
    const answer = await call('POST', `/v1/monitors/${body.id}/test`, { key, body: { limit: 1 } })
    expect([answer.status, answer.body.message]).toEqual([409, expect.stringContaining('Start a run')])
  })
})

describe('deleting a monitor', () => {
  it('is refused while the current version of a scorecard uses it', async () => {
    const { body: scorecard } = await create(definitionOf([item(greeting), item(refund)]), { name: 'Quality' })
    const answer = await call('DELETE', `/v1/monitors/${greeting}`, { key })
    expect([answer.status, answer.body.message]).toEqual([
      409,
      'Scorecards use this monitor: “Quality”. Remove it from them first.',
    ])
    expect(answer.body.details.monitors).toEqual([{ id: scorecard.id, name: 'Quality' }])
    expect((await call('GET', `/v1/monitors/${greeting}`, { key })).status).toBe(200)
    const body = { definition: definitionOf([item(refund)]) }
    await call('PATCH', `/v1/monitors/${scorecard.id}`, { key, body })
    expect((await call('DELETE', `/v1/monitors/${greeting}`, { key })).status).toBe(204)
    expect((await call('DELETE', `/v1/monitors/${scorecard.id}`, { key })).status).toBe(204)
    expect((await call('DELETE', `/v1/monitors/${refund}`, { key })).status).toBe(204)
  })

  it('and creating a scorecard with it at the same time leaves no scorecard without its item', async () => {
    for (let round = 0; round < 5; round++) {
      const { id } = await makeMonitor(server, key)
      const [deleted, created] = await Promise.all([
        call('DELETE', `/v1/monitors/${id}`, { key }),
        create(definitionOf([item(id)])),
      ])
      expect([
        [204, 400],
        [409, 201],
      ]).toContainEqual([deleted.status, created.status])
    }
  })
})

describe('an organization', () => {
  it('has at most 50 scorecards', async () => {
    for (let count = 0; count < 50; count++) expect((await create(definitionOf([item(greeting)]))).status).toBe(201)
    const refused = await create(definitionOf([item(greeting)]))
    expect([refused.status, refused.body.message]).toEqual([
      409,
      'An organization can have at most 50 scorecards. Delete one first.',
    ])
    await makeMonitor(server, key)
  })
})
