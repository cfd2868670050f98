import { expect, it } from 'vitest'
import { makeConversation, makeOrganization } from '../../test/make.ts'
import { serverWithModel, turns } from '../../test/support/evaluations/evaluations.ts'
import { answer } from '../../test/support/monitors/model-server.ts'

const { server, resultsOf, answerBy, makeJudge } = await serverWithModel()

const definition = {
  criteria: 'What does the customer want?',
  output: {
    type: 'extract',
    fields: [
      { key: 'wish', type: 'string' },
      { key: 'amount', type: 'number' },
    ],
    affectedWhen: "fields.wish.mentions('money') && !(has(fields.amount) && fields.amount < 10)",
  },
}
const evidence = [{ field: 'wish', turn: 1, quote: 'I want my money back' }]

/** Makes the model return these values, and returns the stored result. */
const evaluate = async (fields: object, output: object = {}) => {
  answerBy(() => answer({ fields: { wish: null, amount: null, ...fields }, evidence }))
  const { key } = await makeOrganization(server)
  await makeJudge(key, { definition: { ...definition, output: { ...definition.output, ...output } } })
  const { id } = await makeConversation(server, key, { transcript: turns })
  await server.drain()
  const [result] = await resultsOf(key, id)
  return result
}

it('a condition on the extracted fields decides, without a part of the model', async () => {
  expect(await evaluate({ wish: 'my money back' })).toMatchObject({
    status: 'scored',
    result: 'affected',
    fields: { wish: 'my money back', amount: null },
    unsupportedFields: [],
    evidence,
    cost: 2,
  })
  expect(await evaluate({ wish: 'I want' })).toMatchObject({ status: 'scored', result: 'not_affected' })
})

it('a condition on a missing value has no answer', async () => {
  expect(await evaluate({})).toMatchObject({
    status: 'unscored',
    result: null,
    reasoning: 'fields has no wish\nIt shows.',
    fields: { wish: null, amount: null },
  })
})

it('a condition on an unsupported value has no answer, even if it asks whether there is one', async () => {
  expect(await evaluate({ wish: 'my money back', amount: 5 })).toMatchObject({
    status: 'unscored',
    reasoning: 'the model named a value of amount that the quoted turn does not contain\nIt shows.',
    fields: { wish: 'my money back', amount: null },
    unsupportedFields: ['amount'],
  })
})

it('a condition that a value does not support has no answer', async () => {
  expect(await evaluate({ wish: 'my money back' }, { affectedWhen: 'fields.wish > 5' })).toMatchObject({
    status: 'unscored',
    fields: { wish: 'my money back' },
  })
})

it('without a condition, no conversation is affected', async () => {
  expect(await evaluate({ wish: 'my money back' }, { affectedWhen: undefined })).toMatchObject({
    status: 'scored',
    result: 'not_affected',
    fields: { wish: 'my money back' },
  })
})
