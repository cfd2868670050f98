import { describe, expect, it } from 'vitest'
import { answer, makeJudge, makeTurns } from '../../../test/support/monitors/model-server.ts'
import { checkDefinition } from '../definition.ts'
import type { JudgeVerdict } from './answer.ts'
import { combine } from './combine.ts'
import type { CategoryOutput, ExtractOutput, Field, JudgeDefinition } from './definition.ts'

const turns = makeTurns(
  'Acme, how can I help?',
  'I was charged twenty-four fifty for a late delivery on May 3rd.',
  'I can refund that, and the order A1234 is cancelled.',
)

const reason: CategoryOutput = {
  type: 'category',
  categories: [
    { key: 'billing', label: 'A charge or refund', affected: true },
    { key: 'delivery', label: 'A delivery' },
  ],
  allowOther: true,
  allowNotApplicable: true,
}
const several: CategoryOutput = { ...reason, multiple: true }

const judging = (output: JudgeDefinition['output']): JudgeDefinition => ({ criteria: 'Why did they call?', output })
const charged = [{ turn: 1, quote: 'charged twenty-four fifty' }]

/** Judges with a model that gives the same answer each time. */
const judge = async (output: JudgeDefinition['output'], given: object) => {
  const { judgeOne, asked } = await makeJudge(() => answer(given))
  return { result: await judgeOne(judging(output), turns), asked }
}

describe('a category', () => {
  it.each<[string, CategoryOutput, object, object]>([
    [
      'that counts as affected, whatever the model says',
      reason,
      { categories: ['billing'], evidence: charged },
      { status: 'scored', result: 'affected', categories: ['billing'], evidence: charged },
    ],
    [
      'that does not count as affected',
      reason,
      { categories: ['delivery'], result: 'affected' },
      { status: 'scored', result: 'not_affected', categories: ['delivery'] },
    ],
    [
      'other, which is no success',
      reason,
      { categories: ['other'] },
      { status: 'unscored', result: null, categories: ['other'], reason: 'no category fits' },
    ],
    [
      'not applicable, which is no success either',
      reason,
      { categories: ['not_applicable'] },
      { status: 'unscored', result: null, categories: ['not_applicable'] },
    ],
    [
      'without evidence of affected',
      reason,
      { categories: ['billing'], evidence: [{ turn: 1, quote: 'charged twenty-five' }] },
      { status: 'unscored', categories: null, reason: expect.stringContaining('did not quote the turn') },
    ],
    [
      'of a transcript that says nothing',
      reason,
      { categories: [], result: 'unscored' },
      { status: 'unscored', categories: null },
    ],
    [
      'of several, in the order of the definition',
      several,
      { categories: ['delivery', 'billing', 'billing'], evidence: charged },
      { result: 'affected', categories: ['billing', 'delivery'] },
    ],
    ['of several, none', several, { categories: [] }, { result: 'not_affected', categories: [] }],
    [
      'of several, with another one that none fits',
      several,
      { categories: ['delivery', 'other'] },
      { status: 'unscored', categories: ['delivery', 'other'] },
    ],
  ])('%s', async (_, output, given, expected) => {
    const { result, asked } = await judge(output, given)
    expect(result).toMatchObject(expected)
    expect(asked).toHaveLength(1)
  })

  it.each<[CategoryOutput, string[], string]>([
    [reason, [], 'categories must have exactly one item'],
    [reason, ['billing', 'delivery'], 'categories must have exactly one item'],
    [reason, ['refund'], 'categories must not contain refund'],
    [{ ...reason, allowOther: false }, ['other'], 'categories must not contain other'],
    [several, ['billing', 'not_applicable'], 'categories must have nothing next to not_applicable'],
  ])('asks again once after an invalid answer, and then fails (%#)', async (output, categories, message) => {
    const { result, asked } = await judge(output, { categories, evidence: charged })
    expect(result).toMatchObject({ status: 'failed', categories: null, reason: expect.stringContaining(message) })
    expect(asked).toHaveLength(2)
  })

  it('is described to the model, with its keys in the schema', async () => {
    const { asked } = await judge(several, { categories: [] })
    const [{ body } = { body: undefined }] = asked
    expect(body?.messages[0]?.content).toContain('- billing: A charge or refund')
    expect(body?.messages[0]?.content).toContain('- not_applicable: ')
    expect(body?.response_format.json_schema.schema.properties).toMatchObject({
      categories: { items: { enum: ['billing', 'delivery', 'other', 'not_applicable'] } },
    })
  })
})

const fields: Field[] = [
  { key: 'amount', type: 'number' },
  { key: 'date', type: 'date' },
  { key: 'order', type: 'string' },
  { key: 'cause', type: 'enum', options: ['late', 'broken'] },
  { key: 'isRefunded', type: 'boolean' },
  { key: 'topics', type: 'list' },
]
const extraction: ExtractOutput = { type: 'extract', fields }
const values = {
  amount: 24.5,
  date: '05-03',
  order: 'A1234',
  cause: 'late',
  isRefunded: true,
  topics: ['late delivery'],
}
const quotes = [
  { field: 'amount', turn: 1, quote: 'I was charged twenty-four fifty' },
  { field: 'date', turn: 1, quote: 'on May 3rd' },
  { field: 'order', turn: 2, quote: 'order A1234' },
  { field: 'cause', turn: 1, quote: 'late delivery' },
  { field: 'isRefunded', turn: 2, quote: 'I can refund that' },
  { field: 'topics', turn: 1, quote: 'a late delivery' },
]

const extract = async (given: object, output = extraction) =>
  (await judge(output, { fields: values, evidence: quotes, ...given })).result

describe('an extraction', () => {
  it('has the values that the quoted turns say', async () => {
    expect(await extract({})).toMatchObject({
      status: 'scored',
      result: 'not_affected',
      fields: values,
      unsupportedFields: [],
      evidence: quotes,
    })
  })

  it.each<[string, object]>([
    ['amount', { amount: 24.05 }],
    ['amount', { amount: 24 }],
    ['date', { date: '05-04' }],
    ['date', { date: '2026-05-03' }],
    ['date', { date: 'May 3rd' }],
    ['date', { date: 'tomorrow' }],
    ['order', { order: 'A123' }],
    ['order', { order: 'B1234' }],
    ['topics', { topics: ['late delivery', 'refund'] }],
  ])('has no %s that they do not say: %j', async (key, changed) => {
    expect(await extract({ fields: { ...values, ...changed } })).toMatchObject({
      fields: { ...values, [key]: null },
      unsupportedFields: [key],
    })
  })

  it.each(['amount', 'cause', 'isRefunded'])('has no %s without a quote of its own', async (key) => {
    for (const evidence of [
      quotes.filter(({ field }) => field !== key),
      quotes.map((quote) => (quote.field === key ? { ...quote, quote: 'never said' } : quote)),
      quotes.map((quote) => (quote.field === key ? { ...quote, turn: 0 } : quote)),
    ]) {
      expect(await extract({ evidence })).toMatchObject({
        fields: { ...values, [key]: null },
        unsupportedFields: [key],
      })
    }
  })

  it('distinguishes values that nobody said from those that are not supported', async () => {
    const given = { fields: { ...values, amount: null, order: ' ' }, evidence: quotes }
    expect(await extract(given)).toMatchObject({ fields: { amount: null, order: null }, unsupportedFields: [] })
  })

  it('has lists with entries that are quoted from several turns', async () => {
    const said = makeTurns(...Array.from({ length: 60 }, (_, at) => `Also topic number ${at + 100}.`), 'It cost 12.')
    const topics = said.slice(0, 60).map((_, at) => `topic number ${at + 100}`)
    const evidence = [
      ...topics.map((quote, turn) => ({ field: 'topics', turn, quote })),
      { field: 'amount', turn: 60, quote: 'It cost 12' },
    ]
    const output: ExtractOutput = { type: 'extract', fields: fields.filter(({ key }) => /topics|amount/.test(key)) }
    const { judgeOne } = await makeJudge(() => answer({ fields: { topics, amount: 12 }, evidence }))
    expect(await judgeOne(judging(output), said)).toMatchObject({
      fields: { topics, amount: 12 },
      unsupportedFields: [],
      evidence,
    })
  })

  it('stores quotes of all fields, up to 100', async () => {
    const said = makeTurns(...Array.from({ length: 100 }, (_, at) => `Also topic number ${at + 100}.`), 'It cost 12.')
    const topics = said.slice(0, 100).map((_, at) => `topic number ${at + 100}`)
    const quote = { field: 'amount', turn: 100, quote: 'It cost 12' }
    const evidence = [...topics.map((topic, turn) => ({ field: 'topics', turn, quote: topic })), quote]
    const output: ExtractOutput = { type: 'extract', fields: fields.filter(({ key }) => /topics|amount/.test(key)) }
    const { judgeOne } = await makeJudge(() => answer({ fields: { topics, amount: 12 }, evidence }))
    const result = await judgeOne(judging(output), said)
    expect(result.fields).toEqual({ topics, amount: 12 })
    expect(result.evidence).toEqual([...evidence.slice(0, 99), quote])
  })

  it('has no empty lists and entries', async () => {
    const output: ExtractOutput = { type: 'extract', fields: [{ key: 'topics', type: 'list', required: true }] }
    const evidence = quotes.filter(({ field }) => field === 'topics')
    expect(await extract({ fields: { topics: [] }, evidence: [] }, output)).toMatchObject({
      status: 'unscored',
      fields: { topics: null },
      unsupportedFields: [],
    })
    expect(await extract({ fields: { topics: [' ', 'late delivery', ''] }, evidence }, output)).toMatchObject({
      status: 'scored',
      fields: { topics: ['late delivery'] },
    })
  })

  it('is unscored without a required value', async () => {
    const output: ExtractOutput = { type: 'extract', fields: fields.map((field) => ({ ...field, required: true })) }
    expect(await extract({ fields: { ...values, amount: 1, date: null } }, output)).toMatchObject({
      status: 'unscored',
      result: null,
      reason: 'the transcript does not say amount, date',
      fields: { amount: null, date: null, order: 'A1234' },
      unsupportedFields: ['amount'],
    })
  })

  it.each<[string, object]>([
    ['fields.amount must be a number', { fields: { ...values, amount: '24.5' } }],
    ['fields.cause must be one of', { fields: { ...values, cause: 'lost' } }],
    ['fields.isRefunded must be true or false', { fields: { ...values, isRefunded: 'yes' } }],
    ['fields.topics must be a list', { fields: { ...values, topics: 'late' } }],
    ['fields.topics[0] must be a string', { fields: { ...values, topics: [1] } }],
    ['fields.amount is required', { fields: { ...values, amount: undefined } }],
    ['there is no field sum', { fields: { ...values, sum: 1 } }],
    ['there is no field sum', { evidence: [{ field: 'sum', turn: 0, quote: 'Acme' }] }],
    ['evidence[0].field is required', { evidence: [{ turn: 0, quote: 'Acme' }] }],
  ])('with an invalid answer is failed: %s', async (message, given) => {
    expect(await extract(given)).toMatchObject({
      status: 'failed',
      fields: null,
      reason: expect.stringContaining(message),
    })
  })

  it('describes its fields to the model', async () => {
    const { asked } = await judge(extraction, { fields: values, evidence: quotes })
    const [{ body } = { body: undefined }] = asked
    expect(body?.messages[0]?.content).toContain('- cause (one of "late", "broken")')
    expect(body?.response_format.json_schema.schema.properties).toMatchObject({
      fields: { required: fields.map(({ key }) => key) },
    })
  })

  it('shares a request with other judges', async () => {
    const both = {
      monitor_1: answer({ categories: ['delivery'] }),
      monitor_2: answer({ fields: values, evidence: quotes }),
    }
    const { evaluate } = await makeJudge(() => both)
    const results = await evaluate({ definitions: [judging(reason), judging(extraction)], turns })
    expect(results).toMatchObject([
      { categories: ['delivery'], fields: null },
      { categories: null, fields: values },
    ])
  })
})

describe('over several windows', () => {
  const of = (output: JudgeDefinition['output'], ...verdicts: Parameters<typeof combine>[0]['verdicts']) =>
    combine({ definition: judging(output), verdicts, tokens: null, cost: null })
  const scored = (result: 'affected' | 'not_affected', turn = 0): JudgeVerdict => ({
    status: 'scored',
    result,
    score: null,
    reasoning: 'r',
    evidence: [{ turn, quote: 'q' }],
  })
  const named = (categories: string[], result: 'affected' | 'not_affected' = 'not_affected', turn = 0) => ({
    ...scored(result, turn),
    categories,
  })
  const undecided: JudgeVerdict = { status: 'unscored', reason: 'no telling', reasoning: 'Hm.', evidence: [] }
  const open = (categories: string[]) => ({ ...undecided, categories })
  const failed = { status: 'failed', reason: 'down' } as const

  it('one category is that of the first affected window, or of the first that decides', () => {
    const delivery = named(['delivery'])
    expect(of(reason, delivery, named(['billing'], 'affected', 7))).toMatchObject({
      result: 'affected',
      categories: ['billing'],
      evidence: [{ turn: 7 }],
    })
    expect(of(reason, undecided, open(['other']), delivery)).toMatchObject({
      result: 'not_affected',
      categories: ['delivery'],
    })
    expect(of(reason, open(['not_applicable']), open(['other']), undecided)).toMatchObject({
      status: 'unscored',
      categories: ['other'],
    })
    expect(of(reason, undecided, undecided)).toMatchObject({
      status: 'unscored',
      categories: null,
      reason: 'no telling',
    })
    expect(of(reason, delivery, failed)).toMatchObject({ status: 'failed', categories: null })
  })

  it('several categories are those of all windows', () => {
    const billing = named(['billing'], 'affected')
    expect(of(several, named(['delivery']), billing, open(['not_applicable']))).toMatchObject({
      result: 'affected',
      categories: ['delivery', 'billing'],
    })
    expect(of(several, named(['delivery']), undecided)).toMatchObject({
      status: 'unscored',
      result: null,
      categories: ['delivery'],
      reason: 'no telling',
    })
    expect(of(several, named([]), named([]))).toMatchObject({ result: 'not_affected', categories: [] })
    expect(of(several, open(['not_applicable']), open(['not_applicable']))).toMatchObject({
      status: 'unscored',
      categories: ['not_applicable'],
    })
    expect(of(several, billing, failed)).toMatchObject({ status: 'failed' })
  })

  it('the last value of a field counts, and lists are joined', () => {
    const window = (given: object, unsupportedFields: string[] = []) => ({
      ...scored('not_affected'),
      fields: { ...nulls, ...given },
      unsupportedFields,
    })
    const nulls = Object.fromEntries(fields.map(({ key }) => [key, null]))
    expect(
      of(
        extraction,
        window({ amount: 1, order: 'A1', topics: ['a', 'b'] }, ['date']),
        undecided,
        window({ amount: 2, topics: ['b', 'c'] }, ['order', 'cause']),
      ),
    ).toMatchObject({
      status: 'scored',
      fields: { ...nulls, amount: 2, topics: ['a', 'b', 'c'] },
      unsupportedFields: ['date', 'order', 'cause'],
    })
    expect(
      of(
        extraction,
        window({ amount: 20, topics: ['a'] }, ['date']),
        window({ date: '05-03' }, ['amount', 'topics']),
        window({ topics: ['b'] }),
      ),
    ).toMatchObject({ fields: { ...nulls, date: '05-03' }, unsupportedFields: ['amount', 'topics'] })
    expect(of(extraction, undecided)).toMatchObject({ status: 'unscored', fields: null })
    expect(of(extraction, window({}), failed)).toMatchObject({ status: 'failed', fields: null })
  })
})

describe('a definition', () => {
  const issuesOf = (output: object) => checkDefinition('judge', { criteria: 'x', output })
  const category = (given: object) => ({ ...reason, ...given })
  const field = (given: object) => ({ type: 'extract', fields: [{ key: 'amount', type: 'number', ...given }] })

  it.each<[string, object]>([
    ['definition.output.categories', category({ categories: [] })],
    [
      'definition.output.categories',
      category({ categories: Array.from({ length: 51 }, (_, at) => ({ key: `c${at}`, label: 'x' })) }),
    ],
    ['definition.output.categories[0].key', category({ categories: [{ key: 'a b', label: 'x' }] })],
    ['definition.output.categories[0].label', category({ categories: [{ key: 'a', label: ' ' }] })],
    ['definition.output.categories[0].label', category({ categories: [{ key: 'a', label: 'x'.repeat(101) }] })],
    [
      'definition.output.categories[1].key',
      category({
        categories: [
          { key: 'a', label: 'x' },
          { key: 'a', label: 'y' },
        ],
      }),
    ],
    ['definition.output.categories[0].key', category({ categories: [{ key: 'other', label: 'x' }] })],
    ['definition.output.categories[0].key', category({ categories: [{ key: 'not_applicable', label: 'x' }] })],
    ['definition.output.multiple', category({ multiple: 'yes' })],
    ['definition.output.fields', { type: 'extract', fields: [] }],
    ['definition.output.fields[0].type', field({ type: 'time' })],
    ['definition.output.fields[0].options', field({ type: 'enum' })],
    ['definition.output.fields[0].options', field({ options: ['a'] })],
    ['definition.output.fields[0].description', field({ description: 'x'.repeat(501) })],
    ['definition.output.affectedWhen', { ...field({}), affectedWhen: 'fields.amont > 1' }],
    ['definition.output.affectedWhen', { ...field({}), affectedWhen: 'x'.repeat(2_001) }],
    ['definition.output.type', { type: 'label' }],
  ])('that is invalid names the path %s', (path, output) => {
    expect(issuesOf(output).map((issue) => issue.path)).toContain(path)
  })

  it('that is valid has no issues', () => {
    for (const output of [reason, several, extraction, { ...extraction, affectedWhen: 'fields.amount > 20' }]) {
      expect(issuesOf(output)).toEqual([])
    }
  })
})
