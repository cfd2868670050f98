// Converts conditions to a rule's expression, and converts expressions of this form back to conditions.

export const comparisons = { gt: '>', gte: '>=', lt: '<', lte: '<=', eq: '==' } as const
export type Comparison = keyof typeof comparisons

export const people = ['anyone', 'agent', 'customer'] as const
export const places = ['anywhere', 'start', 'end'] as const
const fields = ['channel', 'direction', 'endReason'] as const
export const dataKinds = ['metadata', 'metrics'] as const

type Negatable = { not: boolean }

export type RuleCondition = Negatable &
  (
    | {
        kind: 'words'
        who: (typeof people)[number]
        where: (typeof places)[number]
        /** The number of messages at the start or end. */
        messages: number
        words: string[]
      }
    | { kind: 'signal'; name: string; op: Comparison; value: number }
    | { kind: 'sound'; name: string; op: Comparison; value: number }
    | { kind: 'duration'; op: Comparison; value: number }
    | { kind: 'field'; field: (typeof fields)[number]; value: string }
    | { kind: 'tool'; name: string; what: 'called' | 'failed' }
    | { kind: 'text'; of: (typeof dataKinds)[number]; key: string; value: string }
    | { kind: 'number'; of: (typeof dataKinds)[number]; key: string; op: Comparison; value: number }
    | { kind: 'truth'; of: (typeof dataKinds)[number]; key: string; value: boolean }
    | { kind: 'known'; of: (typeof dataKinds)[number]; key: string }
  )

export type Conditions = { match: 'all' | 'any'; conditions: RuleCondition[] }

const literal = (text: string): string =>
  `'${text.replace(/[\\']/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t')}'`

const escapes: Record<string, string> = { n: '\n', r: '\r', t: '\t' }
const textOf = (inner: string): string => inner.replace(/\\(.)/g, (_, sign: string) => escapes[sign] ?? sign)

/** Matches escapes that `literal` doesn't write, such as code point escapes. */
const otherEscape = /\\[^\\'nrt]/

const patternOf = (words: string[]): string =>
  words.map((word) => word.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|')

/** Returns the words in a pattern, or undefined if the pattern contains anything but alternatives of words. */
const wordsOf = (pattern: string): string[] | undefined => {
  const words = (pattern.match(/(?:\\.|[^|\\])+/g) ?? []).map((word) => word.replace(/\\(.)/g, '$1'))
  // The form separates words by commas and trims them, so a word can't contain either.
  const areShown = words.every((word) => word === word.trim() && !word.includes(','))
  return areShown && patternOf(words) === pattern ? words : undefined
}

const turnsOf = ({ who, where, messages }: Extract<RuleCondition, { kind: 'words' }>): string =>
  `turns${who === 'anyone' ? '' : `.by('${who}')`}${where === 'anywhere' ? '' : `.${where === 'start' ? 'first' : 'last'}(${messages})`}`

const writeOne = (condition: RuleCondition): string => {
  switch (condition.kind) {
    case 'words':
      return `${turnsOf(condition)}.mentions(${literal(patternOf(condition.words))})`
    case 'signal':
      return `signals.${condition.name} ${comparisons[condition.op]} ${condition.value}`
    case 'sound':
      return `sound.${condition.name} ${comparisons[condition.op]} ${condition.value}`
    case 'duration':
      return `conversation.durationSeconds ${comparisons[condition.op]} ${condition.value}`
    case 'field':
      return `conversation.${condition.field} == ${literal(condition.value)}`
    case 'tool':
      return condition.what === 'called'
        ? `turns.calls(${literal(condition.name)}).size() > 0`
        : `turns.exists(t, t.kind == 'tool_result' && t.tool.name == ${literal(condition.name)} && t.tool.isError)`
    case 'text':
      return `${condition.of}[${literal(condition.key)}] == ${literal(condition.value)}`
    case 'number':
      return `${condition.of}[${literal(condition.key)}] ${comparisons[condition.op]} ${condition.value}`
    case 'truth':
      return `${condition.of}[${literal(condition.key)}] == ${condition.value}`
    case 'known':
      return `${condition.of}[${literal(condition.key)}] != null`
  }
}

export const writeRule = ({ match, conditions }: Conditions): string =>
  conditions
    .map((condition) => (condition.not ? `!(${writeOne(condition)})` : writeOne(condition)))
    .join(match === 'all' ? '\n  && ' : '\n  || ')

const quoted = String.raw`'((?:\\.|[^'\\])*)'`
const number = String.raw`(-?\d+(?:\.\d+)?)`
const comparison = '(>=|<=|==|>|<)'
const data = String.raw`(metadata|metrics)\[${quoted}\]`

const opOf = (sign: string | undefined): Comparison =>
  (Object.entries(comparisons).find(([, written]) => written === sign)?.[0] ?? 'eq') as Comparison

type ParsedCondition = RuleCondition | undefined
type Reader = [form: RegExp, make: (parts: string[], not: boolean) => ParsedCondition]

const exactly = (form: string) => new RegExp(`^${form}$`)

const kindOf = (text: string | undefined) => text as (typeof dataKinds)[number]

const readers: Reader[] = [
  [
    exactly(String.raw`turns(?:\.by\('(agent|customer)'\))?(?:\.(first|last)\((\d{1,4})\))?\.mentions\(${quoted}\)`),
    ([who, end, messages, pattern], not) => {
      const words = wordsOf(textOf(pattern ?? ''))
      if (!words || words.length === 0) return undefined
      const where = end === undefined ? 'anywhere' : end === 'first' ? 'start' : 'end'
      return { kind: 'words', who: (who ?? 'anyone') as 'agent', where, messages: Number(messages ?? 3), words, not }
    },
  ],
  [
    exactly(String.raw`signals\.([a-zA-Z]+(?:\.[a-zA-Z0-9]+)?) ${comparison} ${number}`),
    ([name = '', sign, value], not) => ({ kind: 'signal', name, op: opOf(sign), value: Number(value), not }),
  ],
  [
    exactly(String.raw`sound\.([a-zA-Z]+(?:\.[a-zA-Z0-9]+){0,2}) ${comparison} ${number}`),
    ([name = '', sign, value], not) => ({ kind: 'sound', name, op: opOf(sign), value: Number(value), not }),
  ],
  [
    exactly(String.raw`conversation\.durationSeconds ${comparison} ${number}`),
    ([sign, value], not) => ({ kind: 'duration', op: opOf(sign), value: Number(value), not }),
  ],
  [
    exactly(String.raw`conversation\.(channel|direction|endReason) == ${quoted}`),
    ([field, value = ''], not) => ({ kind: 'field', field: field as 'channel', value: textOf(value), not }),
  ],
  [
    exactly(String.raw`turns\.calls\(${quoted}\)\.size\(\) > 0`),
    ([name = ''], not) => ({ kind: 'tool', name: textOf(name), what: 'called', not }),
  ],
  [
    exactly(String.raw`turns\.exists\(t, t\.kind == 'tool_result' && t\.tool\.name == ${quoted} && t\.tool\.isError\)`),
    ([name = ''], not) => ({ kind: 'tool', name: textOf(name), what: 'failed', not }),
  ],
  [
    exactly(`${data} == ${quoted}`),
    ([of, key = '', value = ''], not) => ({
      kind: 'text',
      of: kindOf(of),
      key: textOf(key),
      value: textOf(value),
      not,
    }),
  ],
  [
    exactly(`${data} ${comparison} ${number}`),
    ([of, key = '', sign, value], not) => ({
      kind: 'number',
      of: kindOf(of),
      key: textOf(key),
      op: opOf(sign),
      value: Number(value),
      not,
    }),
  ],
  [
    exactly(`${data} == (true|false)`),
    ([of, key = '', value], not) => ({
      kind: 'truth',
      of: kindOf(of),
      key: textOf(key),
      value: value === 'true',
      not,
    }),
  ],
  [exactly(`${data} != null`), ([of, key = ''], not) => ({ kind: 'known', of: kindOf(of), key: textOf(key), not })],
]

const readOne = (text: string): ParsedCondition => {
  const inner = /^!\((.*)\)$/s.exec(text)?.[1]
  for (const [form, make] of readers) {
    const found = form.exec(inner ?? text)
    if (found?.slice(1).some((part) => part !== undefined && otherEscape.test(part.replaceAll('\\\\', ''))))
      return undefined
    if (found) return make(found.slice(1), inner !== undefined)
  }
  return undefined
}

/** Splits at an operator, unless it is in a string or in parentheses. */
const splitAt = (text: string, operator: '&&' | '||'): string[] => {
  const parts: string[] = []
  let [depth, start] = [0, 0]
  for (const { 0: sign, index } of text.matchAll(/'(?:\\.|[^'\\])*'|[()]|&&|\|\|/gs)) {
    if (sign === '(') depth++
    if (sign === ')') depth--
    if (sign !== operator || depth > 0) continue
    parts.push(text.slice(start, index))
    start = index + 2
  }
  return [...parts, text.slice(start)].map((part) => part.trim())
}

/** Returns undefined if the expression can't be shown as conditions. */
export const readRule = (text: string): Conditions | undefined => {
  if (text.trim() === '') return { match: 'all', conditions: [] }
  const [all, any] = [splitAt(text, '&&'), splitAt(text, '||')]
  const match = any.length > 1 ? 'any' : 'all'
  if (all.length > 1 && any.length > 1) return undefined
  const conditions = (match === 'all' ? all : any).map(readOne)
  return conditions.every((condition) => condition !== undefined) ? { match, conditions } : undefined
}
