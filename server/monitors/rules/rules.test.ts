import { afterAll, describe, expect, it } from 'vitest'
import { answersOf, evaluateRule, type SubjectFields, subjectOf } from '../../../test/support/monitors/rule-subjects.ts'
import { checkRule } from './check.ts'
import { openRules } from './rules.ts'

const rules = openRules({ threads: 2 })
afterAll(rules.close)

const ask = (expression: string, told: SubjectFields = {}, score?: string) =>
  evaluateRule(rules, expression, told, score)
const unscored = (reason: string) => ({ is: 'unscored', reason })
const turns = ['agent: Hello, Acme here', 'customer: I want a Refund', 'agent: One moment', 'customer: Thanks']

describe('an unknown value', () => {
  it.each<[string, SubjectFields, string]>([
    ['signals.overlapMs > 5', {}, 'signals.overlapMs is not known'],
    ['sound.responseMs.agent.p95 > 5', {}, 'sound.responseMs is not known'],
    ['sound.talkOverMs > 5', {}, 'sound.talkOverMs is not known'],
    ['5 < signals.responseLatencyMs.p95', {}, 'signals.responseLatencyMs.p95 is not known'],
    ['signals.overlapMs in [1, 2]', {}, 'signals.overlapMs is not known'],
    ['string(signals.overlapMs) == "1"', {}, 'signals.overlapMs is not known'],
    ['metadata.plan == "gold"', {}, 'metadata has no plan'],
    ['metadata.plan == "gold"', { metadata: { plan: null } }, 'metadata has no plan'],
    ['metadata["a b"] == 1', {}, 'metadata has no a b'],
    ['metadata.order.total > 1', { metadata: { order: {} } }, 'metadata.order has no total'],
    ['metrics.csat < 3', {}, 'metrics has no csat'],
    ['conversation.endedAt > conversation.startedAt', {}, 'conversation.endedAt is not known'],
    ['conversation.customerId in ["a"]', {}, 'conversation.customerId is not known'],
    ['turns.size() > 0', {}, 'there is no transcript'],
    ['turns.exists(t, t.startMs > 5)', { turns }, 't.startMs is not known'],
    ['turns.exists(t, t.latency.totalMs > 5)', { turns }, 't.latency is not known'],
    ['turns[9].role == "agent"', { turns }, 'there is no turns[9]'],
    ['turns.by("system").last().mentions("a")', { turns }, 'there is no last turn in an empty list'],
    ['metadata.age > 18', { metadata: { age: 'old' } }, 'metadata.age > 18 is not possible: string > int'],
    ['metadata.age.contains("a")', { metadata: { age: 1 } }, 'is not possible'],
    ['metadata.vip', { metadata: { vip: 'yes' } }, 'this returns a string, not true or false'],
    ['turns.size() / int(metadata.zero) > 1', { turns, metadata: { zero: 0 } }, 'division by zero'],
    ['int(metadata.text) > 1', { metadata: { text: 'x' } }, 'int(metadata.text): int() type error'],
    ['[metadata.a, metadata.b].after(turns).size() > 0', { turns, metadata: { a: 1, b: {} } }, 'these are not turns'],
    ['turns.before([metadata.a]).size() > 0', { turns, metadata: { a: { given: 1 } } }, 'is not possible'],
    ['metadata.list.first().text == ""', { turns, metadata: { list: [{ text: '' }] } }, 'is not possible'],
    ['false || signals.overlapMs > 5', {}, 'signals.overlapMs is not known'],
    ['signals.overlapMs > 5 && true', {}, 'signals.overlapMs is not known'],
    ['!(signals.overlapMs > 5)', {}, 'signals.overlapMs is not known'],
  ])('leaves %s unscored', async (expression, told, reason) => {
    const answer = await ask(expression, told)
    expect(answer).toMatchObject({ is: 'unscored', reason: expect.stringContaining(reason), score: Number.NaN })
  })

  it.each<[string, SubjectFields, boolean]>([
    ['false && signals.overlapMs > 5', {}, false],
    ['signals.overlapMs > 5 && false', {}, false],
    ['true || turns.size() > 5', {}, true],
    ['turns.size() > 5 || true', {}, true],
    ['conversation.channel == "chat" && turns.mentions("a")', {}, false],
    ['turns.exists(t, t.startMs > 5)', { turns: ['agent: a', { role: 'agent', text: 'b', startMs: 9 }] }, true],
    ['turns.all(t, t.startMs > 5)', { turns: ['agent: a', { role: 'agent', text: 'b', startMs: 1 }] }, false],
    ['has(metadata.plan)', {}, false],
    ['has(metadata.plan)', { metadata: { plan: null } }, false],
    ['has(metadata.plan)', { metadata: { plan: false } }, true],
    ['has(metadata.order.total)', { metadata: { order: 1 } }, false],
    ['has(metadata.list[1])', { metadata: { list: [1] } }, false],
    ['signals.overlapMs != null', {}, false],
    ['null != signals.overlapMs', { signals: { overlapMs: 0 } }, true],
    ['signals.overlapMs == null || signals.overlapMs > 5', { signals: { overlapMs: 0 } }, false],
    ['metadata["a b"] == null', {}, true],
    [
      'turns.filter(t, t.endMs != null).size() == 1',
      { turns: ['agent: a', { role: 'agent', text: 'b', endMs: 1 }] },
      true,
    ],
    [
      'turns.exists(t, t.tool.name == null && t.text == "")',
      { turns: ['agent: a', { role: 'system', kind: 'event' }] },
      true,
    ],
    ['signals[metadata.field] == null', { metadata: { field: 'given' } }, true],
  ])('does not matter in %s', async (expression, told, isAffected) => {
    expect((await ask(expression, told)).is).toBe(isAffected ? 'affected' : 'notAffected')
  })

  it('is reported without characters that the database cannot store', async () => {
    expect(await ask(String.raw`metadata["a\u0000b"] == 1`)).toMatchObject(unscored('metadata has no a\ufffdb'))
  })

  it('is the value of everything in an unreadable transcript', async () => {
    const told = { turns: ['agent: a'], unreadable: 'turns[0].role must be given' }
    for (const rule of ['true', 'turns.size() > 0'])
      expect(await ask(rule, told)).toMatchObject(unscored(told.unreadable))
    // The transcript could be read earlier, but has changed since then.
    const { facts } = subjectOf({})
    const subject = { facts, transcript: { content: '{"a":1}', format: 'turns' }, unreadable: null }
    const answers = await rules.evaluate({
      rules: [{ expression: 'turns.size() > 0' }, { expression: 'conversation.channel == "call"' }],
      subjects: [subject],
    })
    expect(answersOf(answers)).toEqual([unscored('the transcript has no supported format'), { is: 'affected' }])
  })
})

describe('the name of a property that every object has', () => {
  const metadata = JSON.parse('{"constructor": "mine", "__proto__": "mine", "hasOwnProperty": "mine"}')

  it.each(['__proto__', 'constructor', 'hasOwnProperty'])('is like any other: %s', async (name) => {
    expect(await ask(`metadata.${name} == "mine"`)).toMatchObject(unscored(`metadata has no ${name}`))
    expect((await ask(`has(metadata.${name}) || "${name}" in metadata`)).is).toBe('notAffected')
    expect((await ask(`metadata.${name} == "mine" && metadata["${name}"] == "mine"`, { metadata })).is).toBe('affected')
    const nested = { metadata: { customer: metadata } }
    expect((await ask(`metadata.customer.${name} == "mine"`, nested)).is).toBe('affected')
    expect((await ask(`signals[metadata.customer.${name}] == null`, nested)).is).toBe('affected')
  })
})

describe('numbers', () => {
  it.each([
    '1 == 1.0 && 1 < 1.5 && 2.5 >= 2 && 1 != 1.5',
    'turns.size() * 0.5 == 2 && 1.5 * 1000 == 1500 && 5 - 0.5 == 4.5 && 1 / 2.0 == 0.5 && 7 / 2 == 3',
    'metadata.age >= 18 && metadata.age == 18 && metadata.age + 1 == 19 && 2 * metadata.age == 36',
    'metadata.age in [17, 18] && 18 in [metadata.age] && turns.size() in [3.5, 4.0]',
    'signals.turns.agent == 2 && signals.turns.agent / 4 == 0.5 && signals.turns.agent in [2]',
    'int(metadata.age) % 5 == 3 && double("1.5") == 1.5 && turns[turns.size() - 1].index == 3',
  ])('can be mixed: %s', async (expression) => {
    expect(await ask(expression, { turns, metadata: { age: 18 } })).toMatchObject({ is: 'affected' })
  })
})

describe('operators', () => {
  const values = ['metadata.i', 'metadata.f', 'metadata.s', 'metadata.b', 'metadata.l', 'metadata.m', 'turns.size()']
  const others = [
    '1',
    '1.5',
    '"a"',
    'true',
    '[1]',
    '[1.5]',
    '["a"]',
    '{"a": 1}',
    'null',
    'conversation.startedAt',
    '[]',
  ]
  const operators = ['==', '!=', '<', '<=', '>', '>=', 'in', '+', '-', '*', '/', '%', '&&', '||']
  const metadata = { i: 1, f: 1.5, s: 'a', b: true, l: [1], m: { a: 1 } }

  it('return a result or say why they cannot be used, with any operands', async () => {
    const all = [...values, ...others]
    const expressions = operators
      .flatMap((operator) => all.flatMap((a) => all.map((b) => `[${a} ${operator} ${b}].size() == 1`)))
      .filter((expression) => checkRule({ expression }).length === 0)
    expect(expressions.length).toBeGreaterThan(1_000)
    const answers = answersOf(
      await rules.evaluate({
        rules: expressions.map((expression) => ({ expression })),
        subjects: [subjectOf({ turns, metadata })],
      }),
    )
    const wrong = answers.flatMap(({ is, reason }, at) =>
      is === 'affected' || (is === 'unscored' && reason) ? [] : [`${expressions[at]}: ${is} ${reason}`],
    )
    expect(wrong).toEqual([])
    expect(answers.filter(({ is }) => is === 'affected').length).toBeGreaterThan(500)
  })
})

describe('functions', () => {
  const call = (name: string) => ({ role: 'agent', kind: 'tool_call', tool: { name } })
  const told = {
    turns: [
      ...turns,
      call('find_order'),
      'agent: Your refund is made',
      call('refund'),
      'customer: Thank you',
      call('end'),
    ],
  }

  it.each([
    'turns.by("agent").size() == 3 && turns.by("customer").size() == 3 && turns.by("system").size() == 0',
    'turns.mentions("REFUND") && !turns.mentions("zebra") && turns.by("agent").mentions("zebra|refund")',
    '!turns.by("agent").first(2).mentions("refund") && turns.by("agent").last(1).mentions("refund")',
    'turns.mentioning("thank").size() == 2 && turns.mentioning("zebra").size() == 0',
    'turns.mentioning(r"\\bthank\\b").size() == 1 && turns[1].mentions(r"^i want a \\w+$")',
    'turns.exists_one(t, t.mentions("moment")) && turns.all(t, !t.mentions("zebra"))',
    '"A Refund".mentions("refund") && conversation.channel.mentions("CALL") && !"A Refund".matches("refund")',
    'turns[1].text.matches("R.fund$") && !turns[1].text.matches("^R") && metadata.note.matches("[0-9]+")',
    'turns.calls("refund").size() == 1 && turns.calls("zebra").size() == 0',
    'turns.first().mentions("hello") && turns.last().tool.name == "end" && turns.first(0).size() == 0',
    'turns.first(99).size() == turns.size() && turns.last(99).size() == 9 && turns.last(-1).size() == 0',
    'turns.after(turns.mentioning("refund")).size() == 7 && turns.before(turns.mentioning("refund")).size() == 1',
    'turns.after(turns.mentioning("zebra")).size() == 0 && turns.before(turns.mentioning("zebra")).size() == 9',
    'turns.after([turns[4]]).by("agent").first(1).mentions("made") && turns.after(turns).size() == 8',
    'turns.before(turns.calls("refund")).by("customer").mentions("thanks")',
    'turns.map(t, t.text).exists(s, s.contains("Acme")) && turns.filter(t, t.text == "").size() == 3',
    'conversation.startedAt.getHours() == 10 && conversation.startedAt.getHours("Asia/Kolkata") == 15',
    'conversation.startedAt.getMinutes("Asia/Kolkata") == 30 && conversation.startedAt.getDayOfWeek("UTC") == 5',
    'conversation.startedAt.getDate("Pacific/Kiritimati") == 21 && conversation.startedAt.getMonth("UTC") == 10',
    'conversation.startedAt.getFullYear("UTC") == 2026 && conversation.startedAt.getDayOfMonth("UTC") == 19',
    'conversation.startedAt.getSeconds("UTC") == 0 && (conversation.startedAt + duration("7ms")).getMilliseconds("Asia/Tokyo") == 7',
    'duration("90s") > duration("1m") && conversation.startedAt + duration("1h") == timestamp("2026-11-20T11:00:00Z")',
    'cel.bind(r, turns.mentioning("refund"), r.size() == 2 && r[0].role == "customer")',
    '" Ab ".trim().lowerAscii() == "ab" && "abc".substring(1, 2) == "b" && "abc".indexOf("c") == 2 && "a" + "b" == "ab"',
  ])('return the expected value: %s', async (expression) => {
    expect(await ask(expression, { ...told, metadata: { note: 'no 7' } })).toMatchObject({ is: 'affected' })
  })
})

describe('evidence', () => {
  it('quotes matches in the words of the turn, only if affected', async () => {
    expect(await ask('turns.mentions("refund|acme")', { turns })).toMatchObject({
      is: 'affected',
      evidence: [
        { turn: 0, quote: 'Acme' },
        { turn: 1, quote: 'Refund' },
      ],
    })
    expect(await ask('turns.mentions("refund") && false', { turns })).toEqual({ is: 'notAffected', score: Number.NaN })
    expect(await ask('!turns.mentions("zebra")', { turns })).toEqual({ is: 'affected', score: Number.NaN })
    expect(await ask('turns.mentions("refund") && signals.overlapMs > 1', { turns })).not.toHaveProperty('evidence')
  })

  it('comes from each function that searches a turn, and from the rule, not its score', async () => {
    const found = [{ turn: 1, quote: 'Refund' }]
    for (const expression of [
      'turns.mentioning("refund").size() == 1',
      'turns.exists(t, t.mentions("refund"))',
      'turns.exists(t, t.text.mentions("refund"))',
      'turns.exists(t, t.text.matches("Ref.nd"))',
      'turns.by("customer").first(1).mentions("refund") && !turns.mentions("zebra")',
    ]) {
      expect(await ask(expression, { turns }, 'turns.mentioning("acme").size()')).toMatchObject({
        evidence: found,
        score: 1,
      })
    }
  })

  it('is five quotes of 200 characters, in the order of turns, never cut within a character', async () => {
    const many = Array.from({ length: 9 }, (_, index) => `agent: turn ${index}`)
    const { evidence } = await ask('turns.last(2).mentions("turn 8") && turns.mentions("turn")', { turns: many })
    expect(evidence?.map(({ turn }) => turn)).toEqual([0, 1, 2, 3, 8])
    const long = await ask('turns.mentions("a.*b")', { turns: [`agent: ${'a'.repeat(199)}😀${'b'.repeat(99)}`] })
    expect(long).toMatchObject({ evidence: [{ turn: 0, quote: 'a'.repeat(199) }] })
    // The pattern matches empty text.
    expect(await ask('turns.mentions("z*")', { turns })).toMatchObject({
      evidence: [{ turn: 0, quote: 'Hello, Acme here' }, {}, {}, {}],
    })
    // The lowercase forms of some letters have a different length. They must not shift quotes.
    const shifted = await ask('turns.mentions("straße")', { turns: ['agent: İİİ STRAẞE 1'] })
    expect(shifted).toMatchObject({ evidence: [{ turn: 0, quote: 'STRAẞE' }] })
  })
})

describe('a score', () => {
  it.each<[string, SubjectFields, number]>([
    ['turns.by("agent").size()', { turns }, 2],
    ['signals.overlapMs / 2', { signals: { overlapMs: 5 } }, 2.5],
    ['signals.overlapMs', {}, Number.NaN],
    ['metrics.csat', { metrics: { csat: 'low' } }, Number.NaN],
    ['turns.size()', {}, Number.NaN],
  ])('is a number or missing, and does not affect the result: %s', async (score, told, expected) => {
    expect(await ask('conversation.channel == "call"', told, score)).toEqual({ is: 'affected', score: expected })
    expect(await ask('conversation.channel == "chat"', told, score)).toEqual({ is: 'notAffected', score: expected })
  })
})

describe('a batch', () => {
  it('has results in order, from several threads, and only for requested pairs', async () => {
    const subjects = Array.from({ length: 250 }, (_, n) =>
      subjectOf({ metadata: { n }, turns: [`agent: number ${n}.`] }),
    )
    const asking = [0, 7, 249].flatMap((n) => [
      { expression: `metadata.n == ${n}`, score: 'metadata.n' },
      { expression: `turns.mentions(r"number ${n}\\.")` },
    ])
    const asked = Uint8Array.from({ length: subjects.length * asking.length }, (_, at) => (at % 5 === 0 ? 0 : 1))
    const { results, scores, notes } = await rules.evaluate({ rules: asking, subjects, asked })
    for (let at = 0; at < asked.length; at++) {
      const [row, rule] = [Math.floor(at / asking.length), at % asking.length]
      const isIt = row === [0, 7, 249][Math.floor(rule / 2)]
      expect(results[at], `${row} ${rule}`).toBe(at % 5 === 0 ? -1 : isIt ? 1 : 0)
      expect(scores[at]).toBe(at % 5 !== 0 && rule % 2 === 0 ? row : Number.NaN)
      expect(notes.has(at)).toBe(results[at] === 1 && rule % 2 === 1)
    }
    expect(await rules.evaluate({ rules: asking, subjects, asked: asked.fill(0) })).toMatchObject({ notes: new Map() })
    const none = await rules.evaluate({ rules: [], subjects })
    expect(none.results).toHaveLength(0)
    expect((await rules.evaluate({ rules: asking, subjects: [] })).results).toHaveLength(0)
  })

  it('fails a rule that is no longer valid, with its fault', async () => {
    const answers = await rules.evaluate({
      rules: [{ expression: 'signals.gone > 1' }, { expression: 'true', score: 'gone' }, { expression: 'true' }],
      subjects: [subjectOf({})],
    })
    expect(answersOf(answers)).toMatchObject([
      { is: 'failed', reason: expect.stringContaining('line 1, column 9: signals has no field gone') },
      { is: 'failed', reason: expect.stringContaining('there is no variable gone') },
      { is: 'affected' },
    ])
  })
})

describe('several organizations', () => {
  // The rule takes many milliseconds for each conversation.
  const heavy = {
    expression: 'turns.all(a, turns.all(b, turns.all(c, a.text + b.text + c.text != "x")))',
  }
  const subjects = (count: number) =>
    Array.from({ length: count }, () => subjectOf({ turns: Array(40).fill('agent: Hello') }))

  it('take turns on a thread, without losing results', async () => {
    const one = openRules({ threads: 1, turnMs: 10, deadlineMs: 60_000 })
    const ended: string[] = []
    const ask = async (owner: string, count: number) => {
      const batch = { rules: [heavy, { expression: 'turns.size() == 40' }], subjects: subjects(count), owner }
      const answers = answersOf(await one.evaluate(batch))
      ended.push(owner)
      return answers
    }
    const first = ask('a', 40)
    const others = ['b', 'c'].map((owner) => ask(owner, 1))
    for (const answers of await Promise.all(others)) expect(answers).toHaveLength(2)
    expect(ended.toSorted()).toEqual(['b', 'c'])
    const answers = await first
    expect(answers).toHaveLength(80)
    expect(answers.every(({ is }) => is === 'affected')).toBe(true)
    await one.close()
  })
})
