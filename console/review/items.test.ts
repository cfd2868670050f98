import { expect, it } from 'vitest'
import { questionsOf } from './items.ts'

const scorecardOf = (...outcomes: [monitorId: string, outcome: string][]) => ({
  monitorId: 'card',
  sections: [{ name: 'Tone', items: outcomes.map(([monitorId, outcome]) => ({ monitorId, outcome })) }],
})
const greeting = { monitorId: 'greeting', scorecardId: 'card', section: 'Tone' }
const refund = { monitorId: 'refund', scorecardId: 'card', section: 'Tone' }

it('the items of a scorecard that have a result are judged in its place', () => {
  expect(questionsOf(['card'], [scorecardOf(['greeting', 'passed'], ['refund', 'missing'])])).toEqual([greeting])
})

it('all items are judged while results are hidden', () => {
  const hidden = scorecardOf(['greeting', 'unscored'], ['refund', 'unscored'])
  expect(questionsOf(['card'], [hidden])).toEqual([greeting, refund])
})

it('a monitor that is also an item is judged once', () => {
  const scorecard = scorecardOf(['greeting', 'passed'])
  expect(questionsOf(['greeting', 'card', 'other'], [scorecard])).toEqual([greeting, { monitorId: 'other' }])
})

it('a scorecard without items to judge is judged itself', () => {
  expect(questionsOf(['card'], [])).toEqual([{ monitorId: 'card' }])
})
