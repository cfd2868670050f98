import fc from 'fast-check'
import { RE2JS } from 're2js'
import { describe, expect, it } from 'vitest'
import { fold } from './fold.ts'
import { openPattern, PatternFault } from './patterns.ts'

const engineOf = (source: string) => RE2JS.compile(source, RE2JS.CASE_INSENSITIVE)

describe('folding', () => {
  const letters: string[] = []
  for (let code = 0; code <= 0x10ffff; code++) {
    if (code >= 0xd800 && code <= 0xdfff) continue
    const letter = String.fromCodePoint(code)
    if (letter.toLowerCase() !== letter || letter.toUpperCase() !== letter || fold(letter) !== letter) {
      letters.push(letter)
    }
  }

  it('unifies letters exactly as the engine does, and keeps the length', () => {
    expect(letters.length).toBeGreaterThan(2_500)
    const all = letters.join('')
    const sharing = Map.groupBy(letters, fold)
    for (const letter of letters) {
      const folded = fold(letter)
      expect(folded.length, letter).toBe(letter.length)
      const found = [...engineOf(RE2JS.quote(letter)).matchAll(all)].map(([one]) => one)
      expect(new Set(found), letter).toEqual(new Set(sharing.get(folded)))
    }
  })

  it('does not depend on neighboring letters', () => {
    for (const text of ['ΌΔΟΣ ΌΔΟΣ', 'İSTANBUL Σ', 'ſS Kk', 'ΐ\u{345}']) {
      expect(fold(text)).toBe([...text].map(fold).join(''))
      expect(fold(text)).toHaveLength(text.length)
    }
  })
})

// The patterns are built from valid ones, so nearly all of them are also valid.
const letter = fc.constantFrom('a', 'b', 'B', 'k', 'K', 's', 'ſ', 'S', 'é', 'É', 'σ', 'ς', 'İ', 'i', 'ß', 'ẞ', ' ', '1')
const word = fc.string({ unit: letter, minLength: 1, maxLength: 3 })
const atom = fc.oneof(
  { weight: 6, arbitrary: word },
  { weight: 1, arbitrary: fc.constantFrom('.', '\\w', '\\W', '\\s', '\\d', '\\b', '\\B', '^', '$', '\\pL', '\\x41') },
  { weight: 1, arbitrary: fc.constantFrom('[ab]', '[^a]', '[A-C]', '[kS]', '[B]', '[[:alpha:]]', '\\Qk.\\E', 'ẛ') },
)
const { pattern } = fc.letrec<{ pattern: string; branch: string; piece: string }>((tie) => ({
  piece: fc.oneof(
    { depthSize: 'small' },
    { weight: 4, arbitrary: atom },
    {
      weight: 2,
      arbitrary: fc
        .tuple(
          fc.constantFrom('(', '(?:', '(?i:', '(?-i:', '(?P<Name>'),
          tie('pattern'),
          fc.constantFrom('', '?', '*', '+', '{2}'),
        )
        .map(([open, inner, times]) => `${open}${inner})${times}`),
    },
  ),
  branch: fc.array(tie('piece'), { minLength: 1, maxLength: 3 }).map((pieces) => pieces.join('')),
  pattern: fc.array(tie('branch'), { minLength: 1, maxLength: 3 }).map((branches) => branches.join('|')),
}))
/** Numbers the names of groups, because a name can only be used once. */
const named = pattern.map((source) => {
  let names = 0
  return source.replace(/Name\d*/g, () => `Name${names++}`)
})
const said = fc.string({ unit: fc.oneof(letter, fc.constantFrom('A', 'c', '.', '\n', '😀')), maxLength: 12 })

/** Opens a pattern. Returns undefined if it is valid but too large. */
const openUnlessLarge = (source: string) => {
  try {
    return openPattern(source, { ignoreCase: true })
  } catch (fault) {
    if (fault instanceof PatternFault && /^(has more than|is too large)/.test(fault.message)) return undefined
    throw fault
  }
}

const expectAsEngine = (opened: ReturnType<typeof openPattern>, engine: RE2JS, text: string): void => {
  const { occursIn, mayOccurIn, find } = opened
  const expected = engine.test(text)
  expect(occursIn(text)).toBe(expected)
  expect(occursIn(text, fold(text))).toBe(expected)
  if (expected) expect(mayOccurIn(`before\n${fold(text)}\nafter`)).toBe(true)
  const match = find(text)
  expect(match !== undefined).toBe(expected)
  if (match) expect(match.start).toBe(engine.exec(text)?.['index' as never])
}

describe('a pattern', () => {
  it('matches exactly where the engine matches', () => {
    let compiled = 0
    let found = 0
    let tried = 0
    fc.assert(
      fc.property(named, fc.array(said, { minLength: 4, maxLength: 4 }), (source, texts) => {
        tried++
        let engine: RE2JS
        try {
          engine = engineOf(source)
        } catch {
          expect(() => openPattern(source, { ignoreCase: true })).toThrow(PatternFault)
          return
        }
        const opened = openUnlessLarge(source)
        if (!opened) return
        compiled++
        found += texts.filter((text) => engine.test(text)).length
        for (const text of texts) expectAsEngine(opened, engine, text)
      }),
      { numRuns: 1_500 },
    )
    // The test is only meaningful if nearly all patterns are valid and many of them match.
    expect(compiled / tried).toBeGreaterThan(0.95)
    expect(found).toBeGreaterThan(compiled * 0.4)
    expect(found).toBeLessThan(compiled * 3.6)
  })

  it.each([
    ['refund|money back', 'MONEY BACK', 'money  back'],
    [String.raw`\b(cancel|refund)\b`, 'to cancel it', 'nothing of it'],
    ['can(cel|not).*ORDER', 'I cannot find the order', 'an order'],
    [String.raw`\d{4} dollars`, '1000 Dollars', 'ten euros'],
    ['(?:i want|give me) (?:a|the) refund', 'Give me the refund', 'I want it'],
    ['stra(ss|ß)e', 'STRAẞE', 'way'],
  ])('%s is only run where its words are', (source, text, without) => {
    const { mayOccurIn, occursIn } = openPattern(source, { ignoreCase: true })
    expect(occursIn(text)).toBe(true)
    expect(mayOccurIn(fold(text))).toBe(true)
    expect(mayOccurIn(fold(without))).toBe(false)
  })

  it('is case-sensitive if it says so', () => {
    const { occursIn, find } = openPattern('Re(f)und', { ignoreCase: false })
    expect([occursIn('a Refund'), occursIn('a refund')]).toEqual([true, false])
    expect(find('a Refund')).toEqual({ start: 2, end: 8 })
  })

  it.each([
    ['(a', 'missing closing )'],
    ['a{1001}', 'repeats more than 1000 times'],
    ['(a{100}){100}', 'is invalid: invalid repeat count'],
    ['a{999}'.repeat(100), 'repeats more than 1000 times'],
    ['a{500,}a{501,502}', 'repeats more than 1000 times'],
    ['(?:\\pL\\pN\\pZ\\pS){999}', 'is too large'],
    // Each of these classes is a list of hundreds of letters.
    ['\\pL'.repeat(333), 'is too large'],
    ['a'.repeat(1_001), 'has more than 1000 characters'],
    ['(?=a)', 'is invalid: invalid'],
    ['(?<=a)b', 'is invalid: invalid'],
    [String.raw`(a)\1`, 'is invalid: invalid escape'],
    ['', 'is empty'],
  ])('that is invalid is rejected with a reason: %#', (source, reason) => {
    expect(() => openPattern(source, { ignoreCase: true })).toThrow(reason)
  })

  it.each(['(a+)+$', '(.*)*x', '(a|aa)+$', '(.*)(.*)(.*)(.*)[^a]$', '(?:a?){300}a{300}$'])(
    '%s takes linear time',
    (source) => {
      const { occursIn } = openPattern(source, { ignoreCase: true })
      // A backtracking engine would not return, even for the shortest of these.
      for (const length of [40, 400, 20_000]) expect(typeof occursIn(`${'a'.repeat(length)}!`)).toBe('boolean')
    },
  )
})
