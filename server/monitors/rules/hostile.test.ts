import { execFile } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { promisify } from 'node:util'
import type { Worker } from 'node:worker_threads'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { answersOf, evaluateRule, subjectOf } from '../../../test/support/monitors/rule-subjects.ts'
import { openRules, type RuleSubject } from './rules.ts'

// Only an endless rule takes longer than this, even on a busy machine.
const rules = openRules({ threads: 1, deadlineMs: 10_000 })
const hasty = openRules({ threads: 1, deadlineMs: 300 })
afterAll(() => Promise.all([rules.close(), hasty.close()]))

const long = (count: number): RuleSubject =>
  subjectOf({ turns: Array.from({ length: count }, (_, index) => `agent: turn ${index}`), metadata: { text: 'abc' } })
const largest = long(10_000)
const small = long(3)

const evaluate = async (expressions: string[], subjects: RuleSubject[], by = rules) =>
  answersOf(await by.evaluate({ rules: expressions.map((expression) => ({ expression })), subjects }))

const endless = 'turns.exists(a, turns.exists(b, turns.exists(c, a.index + b.index + c.index < 0)))'

describe('an endless rule', () => {
  it('is stopped, and all others have results', async () => {
    const answers = await evaluate(
      ['turns.size() > 3', endless, 'turns.mentions("turn 2")'],
      [small, largest, long(4)],
      hasty,
    )
    const found = { is: 'affected', evidence: [{ turn: 2, quote: 'turn 2' }] }
    expect(answers).toMatchObject([
      { is: 'notAffected' },
      { is: 'notAffected' },
      found,
      { is: 'affected' },
      { is: 'failed', reason: 'this takes longer than 0.3 seconds' },
      { is: 'affected' },
      { is: 'affected' },
      { is: 'notAffected' },
      found,
    ])
  })

  it('is not retried forever', async () => {
    // The batch is large enough that several threads run at once.
    const subjects = [...Array(96).fill(small), ...Array(9).fill(largest), small]
    const expressions = [endless, 'turns.size() > 9']
    const asked = new Uint8Array(subjects.length * 2).fill(1)
    asked[98 * 2] = 0
    const batch = { rules: expressions.map((expression) => ({ expression })), subjects, asked }
    const answers = answersOf(await hasty.evaluate(batch))
    const stopped = answers.filter(({ reason }) => reason === 'this takes longer than 0.3 seconds')
    const left = answers.filter(({ reason }) => reason?.endsWith('in other conversations'))
    expect([stopped.length, left.length]).toEqual([3, 6])
    expect(answers.filter((_, at) => at % 2 === 0).map(({ is }) => is)).toEqual([
      ...Array(96).fill('notAffected'),
      'failed',
      'failed',
      'notAsked',
      ...Array(6).fill('failed'),
      // This conversation was reached after the rule had failed on others too often.
      'failed',
    ])
    expect(answers.filter((_, at) => at % 2 === 1).map(({ is }) => is)).toEqual([
      ...Array(96).fill('notAffected'),
      ...Array(9).fill('affected'),
      'notAffected',
    ])
  })

  it('can be a function of the library, and its score', async () => {
    const told = { metadata: { digits: '1'.repeat(60_000) } }
    const expression = 'duration(metadata.digits) > duration("1s")'
    expect(await evaluateRule(hasty, expression, told)).toMatchObject({
      is: 'failed',
      reason: 'this takes longer than 0.3 seconds',
    })
    const score = `${expression} ? 1 : 0`
    expect(await evaluateRule(hasty, 'true', told, score)).toMatchObject({ is: 'failed', score: Number.NaN })
  })
})

describe('a rule that would fill the memory', () => {
  const doubled = (start: string, times: number) => {
    let expression = `x${times} == x${times}`
    for (let at = times; at > 0; at--) expression = `cel.bind(x${at}, x${at - 1} + x${at - 1}, ${expression})`
    return `cel.bind(x0, ${start}, ${expression})`
  }

  it.each([
    ['lists in lists', 'turns.map(a, turns.map(b, b.text)).size() > 0'],
    ['lists in lists in lists', 'turns.map(a, turns.map(b, turns.map(c, c.text + a.text))).size() > 0'],
    ['empty lists', 'turns.map(a, turns.map(b, [1].filter(c, false))).size() > 0'],
    ['maps', 'turns.map(a, turns.map(b, {"a": a.index, "b": [b, b, b]})).size() > 0'],
    ['lists put together', 'turns.map(a, turns + turns).size() > 0'],
    ['parts of lists', 'turns.map(a, turns.after([a])).size() > 0'],
    ['lists that double', doubled('turns', 24)],
    ['texts that double', doubled('metadata.text', 28)],
    ['texts created repeatedly', 'turns.map(a, turns.map(b, (a.text + b.text).upperAscii())).exists(l, l.size() == 0)'],
    ['lists that are filtered', 'turns.map(a, turns.filter(b, true)).size() > 0'],
    ['bytes that double', doubled('b"abc"', 24)],
  ])('fails before it does, because its values are counted: %s', async (_, expression) => {
    const answers = await evaluate([expression, 'turns.size() == 10000'], [largest])
    expect(answers).toEqual([{ is: 'failed', reason: 'this builds a value that is too large' }, { is: 'affected' }])
  })

  it('can still read a long conversation', async () => {
    const sound = [
      'turns.map(t, t.text).size() == 10000',
      'turns.filter(t, t.text.lowerAscii().contains("9")).map(t, {"text": t.text + "!", "at": t.index}).size() > 0',
      'turns.by("agent").mentioning("turn 77").map(t, turns.after([t]).size()).size() > 0',
      'turns.first(300).exists(a, turns.first(300).exists(b, a.index < b.index && a.text + "x" == b.text)) || true',
    ]
    expect((await evaluate(sound, [largest])).map(({ is }) => is)).toEqual(sound.map(() => 'affected'))
  })
})

describe('the arguments of a tool', () => {
  it('are parsed once, however often they are read', async () => {
    const call = { role: 'agent', kind: 'tool_call', tool: { name: 'x', arguments: Array(500_000).fill({}) } }
    const subject = subjectOf({ turns: [call, ...Array(5_000).fill('agent: a')] })
    const expression = 'turns.map(t, turns[0].tool.arguments).size() == 5001'
    expect(await evaluate([expression], [subject])).toEqual([{ is: 'affected' }])
  })
})

describe('searching a text', () => {
  const told = {
    metadata: { short: 'a'.repeat(300), long: `${'a'.repeat(30_000)}b${'a'.repeat(30_000)}` },
    turns: [`agent: ${'a'.repeat(100_000)}`],
  }

  // Each rule is a single call to the engine, which nothing can interrupt.
  it.each([
    'turns[0].text.contains(metadata.long)',
    'turns[0].text.indexOf(metadata.long) > 0',
    'turns[0].text.indexOf(metadata.long, 1) > 0',
    'turns[0].text.contains(metadata.short + metadata.long)',
  ])('fails if it could take far too long: %s', async (expression) => {
    expect(await evaluateRule(rules, expression, told)).toMatchObject({
      is: 'failed',
      reason: 'this searches for too long a text in too long a text',
    })
  })

  it('succeeds within the limit', async () => {
    const expression = 'metadata.long.contains(metadata.short) && metadata.long.indexOf("b" + metadata.short) == 30000'
    expect(await evaluateRule(rules, expression, told)).toMatchObject({ is: 'affected' })
  })
})

describe('a transcript', () => {
  const tooLong = (content: string): RuleSubject => ({ ...small, transcript: { content, format: 'turns' } })

  it('with too many turns or characters is read by no rule, and does not block others', async () => {
    const lengthy = JSON.stringify([{ role: 'agent', text: 'word '.repeat(1_000_000) }])
    const subjects = [long(10_001), tooLong(lengthy), tooLong(`[${'[],'.repeat(1_600_000)}[]]`), small]
    const answers = await evaluate(['turns.size() > 0', 'metadata.text == "abc"'], subjects)
    expect(answers.filter((_, at) => at % 2 === 0)).toEqual([
      { is: 'unscored', reason: 'the transcript has more than 10,000 turns' },
      { is: 'unscored', reason: 'the transcript has more than 5,000,000 characters' },
      { is: 'unscored', reason: 'the transcript has no supported format' },
      { is: 'affected' },
    ])
    expect(answers.filter((_, at) => at % 2 === 1)).toEqual(Array(4).fill({ is: 'affected' }))
  })

  it('is searched in linear time with any pattern', async () => {
    const text = `${'a'.repeat(200_000)}!`
    const subject = subjectOf({ turns: [`customer: ${text}`] })
    const patterns = ['(a+)+$', '(.*)*x', '(a|aa)+$', '(a*)*(b*)*c', '^(([a-z])+.)+[A-Z]([a-z])+$', '(?:a?){20}a{20}b']
    const expressions = patterns.flatMap((pattern) => [
      `turns.mentions(r'${pattern}')`,
      `turns.exists(t, t.text.matches(r'${pattern}'))`,
    ])
    expect((await evaluate(expressions, [subject])).map(({ is }) => is)).toEqual(expressions.map(() => 'notAffected'))
  })
})

describe('a batch', () => {
  const workers: Worker[] = []
  const started = (message: unknown) => workers.push((message as { worker: Worker }).worker)
  beforeEach(() => {
    workers.length = 0
    subscribe('worker_threads', started)
  })
  afterEach(() => {
    unsubscribe('worker_threads', started)
  })

  it('that is aborted rejects immediately, and frees its thread', async () => {
    const slow = openRules({ threads: 1, deadlineMs: 300 })
    const batch = { rules: [{ expression: endless }], subjects: Array(200).fill(largest) }
    await expect(slow.evaluate(batch, AbortSignal.abort(new Error('never mind')))).rejects.toThrow('never mind')
    expect(workers).toHaveLength(0)
    const controller = new AbortController()
    const answers = slow.evaluate(batch, controller.signal)
    await expect.poll(() => workers.length).toBe(1)
    controller.abort(new Error('not any more'))
    await expect(answers).rejects.toThrow('not any more')
    expect(await evaluateRule(slow, 'turns.size() == 1', { turns: ['agent: a'] })).toMatchObject({ is: 'affected' })
    await slow.close()
  })

  it('is rejected when rules are closed', async () => {
    const closing = openRules({ threads: 1, deadlineMs: 60_000 })
    const batch = { rules: [{ expression: endless }], subjects: Array(200).fill(largest) }
    const answers = closing.evaluate(batch)
    await expect.poll(() => workers.length).toBe(1)
    await Promise.all([expect(answers).rejects.toThrow(/ended|is closed/), closing.close()])
    await expect(closing.evaluate(batch)).rejects.toThrow('is closed')
  })

  it('continues without what fills its threads’ memory, which is retried once in a new one', async () => {
    const dying = openRules({ threads: 1, deadlineMs: 60_000 })
    const used = async (worker = workers[0]) => (await worker?.cpuUsage())?.user ?? 0
    await evaluate(['turns.size() > 3'], [small, largest], dying)
    const toBegin = await used()
    const answers = dying.evaluate({
      rules: [{ expression: 'turns.size() > 3' }, { expression: endless }, { expression: 'true' }],
      subjects: [small, largest],
    })
    for (let at = 0; at < 2; at++) {
      await expect.poll(() => workers.length).toBe(at + 1)
      const worker = workers[at]
      // By then, the thread is evaluating, because it has used much more CPU time than its start needs.
      await expect.poll(() => used(worker)).toBeGreaterThan(3 * toBegin)
      worker?.emit('error', Object.assign(new Error('out of memory'), { code: 'ERR_WORKER_OUT_OF_MEMORY' }))
    }
    expect(answersOf(await answers)).toEqual([
      { is: 'notAffected' },
      { is: 'notAffected' },
      { is: 'affected' },
      { is: 'affected' },
      { is: 'failed', reason: 'this exceeds the memory limit of rules' },
      { is: 'affected' },
    ])
    expect(workers).toHaveLength(3)
    await dying.close()
  })

  it('runs on a thread that ends when idle, and on another one later', async () => {
    const brief = openRules({ threads: 1, idleMs: 1 })
    for (let at = 0; at < 2; at++) {
      expect(await evaluateRule(brief, 'turns.size() == 1', { turns: ['agent: a'] })).toMatchObject({ is: 'affected' })
      expect(workers).toHaveLength(at + 1)
      const worker = workers[at]
      if (worker && worker.threadId !== -1) await once(worker, 'exit')
    }
    await brief.close()
  })

  it('keeps a process alive while someone waits for it', async () => {
    const program = `
      const { openRules } = await import(${JSON.stringify(new URL('./rules.ts', import.meta.url).href)})
      const { results } = await openRules().evaluate(JSON.parse(process.argv[1]))
      console.log(results.join())`
    const batch = { rules: [{ expression: 'turns.size() == 3' }, { expression: 'false' }], subjects: [small] }
    const { stdout } = await promisify(execFile)(process.execPath, [
      '--input-type=module',
      '--eval',
      program,
      JSON.stringify(batch),
    ])
    expect(stdout).toBe('1,0\n')
  })
})
