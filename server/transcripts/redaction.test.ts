import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { redact } from './redaction.ts'

describe('an email address', () => {
  it.each([
    ['ada@example.com', '[email]'],
    ['Mail Ada.Lovelace+x@mail.example.co.uk, please.', 'Mail [email], please.'],
    ['<ada@example.com>;bob@example.org', '<[email]>;[email]'],
    ['mü@exämple.de.', '[email].'],
    ['我的邮箱是ada@example.com谢谢', '我的邮箱是[email]谢谢'],
    ['用户@例子.广告', '[email]'],
    ['mailto:ada@example.com?subject=Hi', 'mailto:[email]?subject=Hi'],
    ['ada@example.com555-010-0199', '[email][phone]'],
  ])('in %j becomes %j', (text, redacted) => {
    expect(redact(text)).toBe(redacted)
  })

  it.each(['ada@home', '@ada', 'ada@', 'a @ b.com', '50 @ 3.20', '@.com'])('does not occur in %j', (text) => {
    expect(redact(text)).toBe(text)
  })
})

describe('a phone number', () => {
  it.each([
    ['+15550100199', '[phone]'],
    ['call +1 (555) 010-0199 now', 'call [phone] now'],
    ['+49 (0)30 123456', '[phone]'],
    ['+44 20 7946 0018.', '[phone].'],
    ['555-010-0199', '[phone]'],
    ['(555) 010-0199', '[phone]'],
    ['555.010.0199', '[phone]'],
    ['(555) 010.0199', '[phone]'],
    ['555 0100', '[phone]'],
    ['tel:555-0100x12', 'tel:[phone]x12'],
    ['01 23 45 67 89', '[phone]'],
    ['030/1234567', '[phone]'],
    ['07700 900123', '[phone]'],
    ['98765 43210', '[phone]'],
    ['5 5 5 0 1 0 0', '[phone]'],
    ['555-010-0199 or 555-010-0198', '[phone] or [phone]'],
    ['call 555-010-0199, 2026-11-21', 'call [phone], 2026-11-21'],
    ['电话555-0100', '电话[phone]'],
    ['٥٥٥ ٠١٠ ٠١٩٩', '[phone]'],
  ])('in %j becomes %j', (text, redacted) => {
    expect(redact(text)).toBe(redacted)
  })

  it.each([
    'order 12345678',
    '5550100199',
    'INV-2024-0012345',
    '0197a3b0-5e1c-7c3a-9a59-3f1f0c2d4e5f',
    '12345678-1234-4123-8123-123456789012',
    '7f3-4512-8891-a2',
    '2026-11-21',
    '2026-11-21T09:30:00.000Z',
    '2026-11-21 09:30:00',
    '21.11.2026 at 9.30',
    '11/21/2026',
    '21 11 2026',
    '2019-2024',
    '10:30-11:45',
    '$1,234,567.89',
    '1 234 567',
    '1.234.567 €',
    '12345.67',
    '52.5200066 13.4049540',
    '192.168.100.200',
    'https://cdn.example.com/2026/11/21/12345678.wav',
    '555 010',
  ])('does not occur in %j', (text) => {
    expect(redact(text)).toBe(text)
  })
})

describe('a card number', () => {
  it.each([
    ['4111 1111 1111 1111', '[card]'],
    ['4111-1111-1111-1111', '[card]'],
    ['my card, 4111111111111111.', 'my card, [card].'],
    ['3782 822463 10005', '[card]'],
    ['6011000990139424', '[card]'],
    ['1 4111 1111 1111 1111', '1 [card]'],
    ['4222222222222', '[card]'],
    ['4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1', '[card]'],
    [4_111_111_111_111_111, '[card]'],
    [Number('6205500000000000004'), '[card]'],
  ])('in %j becomes %j', (value, redacted) => {
    expect(redact(value)).toBe(redacted)
  })

  it.each([
    '4111111111111112',
    '1763712000000',
    '1763712000000000000',
    'a4111111111111111f',
    4_111_111_111_111_112,
    1_763_712_000_000,
    4_111_111_111_111.5,
    -4_111_111_111_111_111,
  ])('does not occur in %j', (value) => {
    expect(redact(value)).toBe(value)
  })

  it('is recognized by Luhn, whatever its grouping', () => {
    const digits = fc
      .integer({ min: 12, max: 18 })
      .chain((length) =>
        fc
          .array(fc.integer({ min: 0, max: 9 }), { minLength: length - 1, maxLength: length - 1 })
          .map((rest) => [4, ...rest]),
      )
    const separator = fc.constantFrom('', ' ', '-')
    fc.assert(
      fc.property(digits, separator, fc.integer({ min: 3, max: 6 }), (body, between, group) => {
        const sum = [...body].reverse().reduce((total, digit, index) => {
          const weighed = index % 2 === 0 ? digit * 2 : digit
          return total + (weighed > 9 ? weighed - 9 : weighed)
        }, 0)
        const card = [...body, (10 - (sum % 10)) % 10].join('')
        const text = card.match(new RegExp(`.{1,${group}}`, 'g'))?.join(between)
        expect(redact(`card ${text}, thanks`)).toBe('card [card], thanks')
      }),
    )
  })
})

describe('a social security number', () => {
  it.each([
    ['123-45-6789', '[ssn]'],
    ['my social is 123 45 6789.', 'my social is [ssn].'],
  ])('in %j becomes %j', (text, redacted) => {
    expect(redact(text)).toBe(redacted)
  })

  it.each(['123456789', '12-345-6789A'])('does not occur in %j', (text) => {
    expect(redact(text)).not.toContain('[ssn]')
  })
})

describe('a JSON value', () => {
  it('is redacted in all strings, and keeps its structure and names', () => {
    expect(
      redact({
        'ada@example.com': 1,
        list: ['ada@example.com', { deep: '555-010-0199' }],
        none: null,
        yes: true,
        n: 7,
      }),
    ).toEqual({ 'ada@example.com': 1, list: ['[email]', { deep: '[phone]' }], none: null, yes: true, n: 7 })
  })

  it('is the same without anything to redact, in every part', () => {
    const clean = { turns: [{ role: 'agent', text: 'How can I help?', words: [{ text: 'How', startMs: 0 }] }] }
    expect(redact(clean)).toBe(clean)
    const mixed = { clean, mail: 'ada@example.com' }
    expect((redact(mixed) as typeof mixed).clean).toBe(clean)
    expect(mixed.mail).toBe('ada@example.com')
  })

  it('stays JSON in JSON strings', () => {
    const call = { name: 'charge', arguments: '{"card": 4111111111111111, "mail": "ada\\u0040example.com", "cvc": 1}' }
    const redacted = redact(call) as typeof call
    expect(JSON.parse(redacted.arguments)).toEqual({ card: '[card]', mail: '[email]', cvc: 1 })
  })

  it('keeps a property that is named like those of every object', () => {
    const value = JSON.parse('{"__proto__": "ada@example.com", "constructor": 1}')
    expect(JSON.stringify(redact(value))).toBe('{"__proto__":"[email]","constructor":1}')
  })
})

describe('words with timestamps', () => {
  it('lose their digits if the text next to them was redacted', () => {
    const words = ['call', '555', '-', '0100', 'please'].map((text, index) => ({ text, startMs: index * 100 }))
    expect(redact({ role: 'customer', text: 'Call 555-0100 please', words })).toEqual({
      role: 'customer',
      text: 'Call [phone] please',
      words: ['call', '[redacted]', '-', '[redacted]', 'please'].map((text, index) => ({ text, startMs: index * 100 })),
    })
  })

  it('lose them if only the words contain the number', () => {
    const metadata = { wordLevelConfidence: ['dial', '555', '0100'].map((word) => ({ word, confidence: 0.9 })) }
    expect(redact({ role: 'user', message: 'dial five', metadata })).toMatchObject({
      metadata: { wordLevelConfidence: [{ word: 'dial' }, { word: '[redacted]' }, { word: '[redacted]' }] },
    })
  })

  it('keep their digits in a turn without a personal number', () => {
    const turn = { text: 'I have 2 cats', words: ['I', 'have', '2', 'cats'].map((text) => ({ text })) }
    expect(redact(turn)).toBe(turn)
  })
})

describe('redaction', () => {
  it('changes nothing the second time', () => {
    const piece = fc.constantFrom(
      '555',
      '0100',
      '4111',
      '1111',
      '1',
      '12',
      '2026',
      '0',
      '00',
      '+',
      '(',
      ')',
      '-',
      '.',
      '/',
      ' ',
      '  ',
      ',',
      ':',
      '@',
      'ada',
      'example',
      'com',
      '.com',
      'x',
      'T',
      'a',
      '[',
      ']',
      '[phone]',
      '123-45-6789',
      '2026-11-21',
      '١',
      'é',
      '4111111111111111',
      '192.168.1.1',
      '{',
      '"',
      '}',
      '_',
      '\n',
    )
    const text = fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join(''))
    fc.assert(
      fc.property(text, (given) => {
        const once = redact(given)
        expect(redact(once)).toBe(once)
      }),
      { numRuns: 5_000 },
    )
    fc.assert(
      fc.property(fc.jsonValue(), (given) => {
        const once = redact(given)
        expect(redact(once)).toBe(once)
      }),
    )
  })

  it('takes linear time for any text', { timeout: 120_000 }, () => {
    const long = (part: string) => part.repeat(Math.ceil(250_000 / part.length)).slice(0, 250_000)
    const hostile = [
      '1',
      '1 ',
      '1-',
      '+1',
      '1.1',
      'a@',
      'a.',
      '@a.',
      '@1.a',
      '(',
      '{',
      '555-0100 ',
      '4111 1111 1111 1111 ',
    ]
    for (const part of [...hostile, 'a1', '0', '.', ' ', '12 345 ', '+', '1) (', '19', '1/1/']) {
      const text = long(part)
      // If the time were quadratic, each case would take a minute.
      expect(typeof redact(text), part).toBe('string')
    }
    redact(`${long('a.')}@${long('a.')}`)
  })
})
