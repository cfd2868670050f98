import { beforeEach, describe, expect, it } from 'vitest'
import { makeBucket, makeMonitor, makeOrganization, makePerson } from '../../../test/make.ts'
import { testServer } from '../../../test/server.ts'

const server = await testServer()
const { call } = server

type Fields = Record<string, unknown>

let key: string
let items: string[]
let scorecard: string
beforeEach(async () => {
  key = (await makeOrganization(server)).key
  items = []
  for (let count = 0; count < 3; count++) items.push((await makeMonitor(server, key)).id)
  const [greeting, refund, tone] = items
  const definition = {
    sections: [
      {
        name: 'Compliance',
        items: [
          { monitorId: greeting, points: 10 },
          { monitorId: refund, points: 30 },
        ],
      },
      { name: 'Tone', items: [{ monitorId: tone, points: 60 }] },
    ],
    bands: [
      { name: 'Fail', from: 0 },
      { name: 'Pass', from: 80 },
    ],
    affectedBelow: 80,
  }
  scorecard = (await makeMonitor(server, key, { kind: 'scorecard', definition })).id
})

type Judgment = { monitorId: string | undefined; correctResult: string; comment?: string }
const judge = (at: number, correctResult: string): Judgment => ({ monitorId: items[at], correctResult })

/** Creates a bucket for the scorecard with a conversation that has these item results, and claims its review. */
const claim = async (results: (string | undefined)[], fields: Fields = {}) => {
  const bucket = await makeBucket(server, key, { monitorIds: [scorecard], ...fields })
  const { conversationId } = bucket
  const sent = results.flatMap((result, at) => {
    const details = result === 'not_applicable' ? { result: 'unscored', categories: [result] } : { result }
    return result === undefined ? [] : [{ monitorId: items[at], conversationId, ...details }]
  })
  const posted =
    sent.length > 0 ? await call('POST', '/v1/monitor-results', { key, body: { results: sent } }) : undefined
  expect(posted?.status ?? 200).toBe(200)
  await server.drain()
  const { headers } = await makePerson(server, key)
  const { body } = await call('POST', `/v1/buckets/${bucket.id}/claim`, { headers })
  const path = `/v1/reviews/${body.id}`
  return {
    conversationId,
    change: (change: Fields) => call('PATCH', path, { headers, body: change }),
    totals: async () => {
      const { status, text, body: found } = await call('GET', `${path}/scorecards`, { headers })
      expect(status, text).toBe(200)
      return found.data
    },
    asViewer: () => call('GET', `${path}/scorecards`, { key }),
  }
}

const outcomesOf = (total: { sections: { items: { outcome: string }[] }[] }) =>
  total.sections.flatMap((section) => section.items.map(({ outcome }) => outcome))

describe('a review of a scorecard', () => {
  it('judges its items, and adds up to the reviewer’s total', async () => {
    const review = await claim(['affected', 'affected', 'not_affected'])
    expect(await review.totals()).toMatchObject([{ monitorId: scorecard, score: null, result: null, band: null }])
    await review.change({ judgments: [judge(0, 'not_affected'), judge(1, 'affected')] })
    const [open] = await review.totals()
    expect([open.score, outcomesOf(open)]).toEqual([null, ['passed', 'affected', 'unscored']])
    await review.change({ judgments: [judge(0, 'not_affected'), judge(1, 'not_affected'), judge(2, 'affected')] })
    expect(await review.totals()).toMatchObject([
      {
        monitorId: scorecard,
        monitorVersion: 1,
        score: 40,
        result: 'affected',
        band: 'Fail',
        sections: [
          { name: 'Compliance', earned: 40, possible: 40 },
          { name: 'Tone', earned: 0, possible: 60 },
        ],
      },
    ])
    expect((await review.asViewer()).body.data).toEqual(await review.totals())
  })

  it('is complete once each item is judged, which also judges the scorecard', async () => {
    const review = await claim(['affected', 'affected', 'not_affected'])
    const lacking = await review.change({ status: 'completed', judgments: [judge(0, 'not_affected')] })
    expect([lacking.status, lacking.body.details.issues.length]).toEqual([400, 2])
    const judgments = [judge(0, 'not_affected'), judge(1, 'not_affected'), judge(2, 'not_affected')]
    const { status, text, body } = await review.change({ status: 'completed', judgments })
    expect(status, text).toBe(200)
    expect(body.judgments).toHaveLength(4)
    expect(body.judgments).toContainEqual({
      monitorId: scorecard,
      monitorVersion: 1,
      correctResult: 'not_affected',
      comment: null,
    })
    const { body: agreement } = await call('GET', `/v1/monitors/${scorecard}/agreement`, { key })
    expect(agreement.data[0]).toMatchObject({ version: 1 })
  })

  it('keeps what is not applicable, and has no total with an item without a result', async () => {
    const applicable = await claim(['affected', 'not_applicable', 'not_affected'])
    await applicable.change({ judgments: [judge(0, 'affected'), judge(1, 'unsure'), judge(2, 'not_affected')] })
    const [total] = await applicable.totals()
    expect([total.score, total.sections[0].possible]).toEqual([(100 * 60) / 70, 10])
    const partial = await claim(['affected', 'affected', undefined])
    const judgments = [judge(0, 'not_affected'), judge(1, 'not_affected')]
    const { status, body } = await partial.change({ status: 'completed', judgments })
    expect(status).toBe(200)
    expect(body.judgments).toContainEqual(expect.objectContaining({ monitorId: scorecard, correctResult: 'unsure' }))
    const [missing] = await partial.totals()
    expect([missing.score, outcomesOf(missing)]).toEqual([null, ['passed', 'passed', 'missing']])
  })

  it('requires notes on items that differ, not on the scorecard', async () => {
    const review = await claim(['affected', 'affected', 'affected'], { noteOnDisagreement: true })
    const judgments = [judge(0, 'not_affected'), judge(1, 'not_affected'), judge(2, 'not_affected')]
    const lacking = await review.change({ status: 'completed', judgments })
    expect(lacking.body.details.issues.map(({ path }: { path: string }) => path)).toEqual(
      [0, 1, 2].map((at) => `judgments[${at}].comment`),
    )
    const explained = judgments.map((judgment) => ({ ...judgment, comment: 'It was fine.' }))
    expect((await review.change({ status: 'completed', judgments: explained })).status).toBe(200)
  })

  it('tells a blind reviewer nothing about the results of items', async () => {
    const review = await claim(['affected', 'not_applicable', undefined], { blind: true })
    const [blind] = await review.totals()
    expect(outcomesOf(blind)).toEqual(['unscored', 'unscored', 'unscored'])
    const judgments = [judge(0, 'not_affected'), judge(1, 'unsure')]
    expect((await review.change({ status: 'completed', judgments })).status).toBe(200)
    const [seen] = await review.totals()
    expect(outcomesOf(seen)).toEqual(['passed', 'not_applicable', 'missing'])
  })

  it('judges the versions of items that the scorecard counts', async () => {
    const rule = await makeMonitor(server, key, { kind: 'rule', definition: { expression: 'true' } })
    const definition = {
      sections: [{ name: 'All', items: [{ monitorId: rule.id, version: 1, points: 1 }] }],
      affectedBelow: 80,
    }
    const pinned = (await makeMonitor(server, key, { kind: 'scorecard', definition })).id
    await call('PATCH', `/v1/monitors/${rule.id}`, { key, body: { definition: { expression: 'false' } } })
    const review = await claim([], { monitorIds: [pinned] })
    const { body } = await review.change({ judgments: [{ monitorId: rule.id, correctResult: 'affected' }] })
    expect(body.judgments).toEqual([
      { monitorId: rule.id, monitorVersion: 1, correctResult: 'affected', comment: null },
    ])
    expect(await review.totals()).toMatchObject([{ monitorId: pinned, score: 0 }])
  })
})
