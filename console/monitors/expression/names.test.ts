import { describe, expect, it } from 'vitest'
import { nameAt, namesAfter } from './names.ts'

const offered = (before: string) => namesAfter(before)?.names.map(({ name }) => name)

describe('the names in a rule', () => {
  it.each([
    ['', 'conversation'],
    ['con', 'conversation'],
    ['conversation.', 'channel'],
    ['signals.responseLatencyMs.', 'responseLatencyMs.p95'],
    ['sound.responseMs.agent.', 'responseMs.agent.p95'],
    ['turns.', 'by'],
    ["turns.by('agent').", 'mentions'],
    ["turns.by('agent').men", 'mentions'],
    ['turns.exists(t, t.', 'tool.name'],
    ['signals.toolFailures > 0 && sig', 'signals'],
  ])('after %s include %s', (before, name) => {
    expect(offered(before)).toContain(name)
  })

  it.each(["turns.mentions('con", 'metadata.', "turns.by('agent').mentions(\"x"])(
    'are not offered after %s',
    (before) => {
      expect(offered(before)).toBeUndefined()
    },
  )

  it('replace only the part that is being typed', () => {
    expect(namesAfter('1 > 0 && signals.tool')?.from).toBe('1 > 0 && signals.'.length)
    expect(namesAfter("turns.by('agent').men")?.from).toBe("turns.by('agent').".length)
  })

  it('are explained at their position', () => {
    const rule = "turns.by('agent').mentions('x') && signals.responseLatencyMs.p95 > 1"
    expect(nameAt(rule, rule.indexOf('mentions') + 2)?.about).toMatch(/pattern/)
    expect(nameAt(rule, rule.indexOf('p95'))?.about).toBe('Response time, p95')
    expect(nameAt(rule, rule.indexOf("'x'") + 1)).toBeUndefined()
  })
})
