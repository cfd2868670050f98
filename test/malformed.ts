// Creates random malformed requests, which are the same for the same seed.
import {
  oddAuthorizations,
  oddBodies,
  oddBytes,
  oddChunks,
  oddContentTypes,
  oddHeaders,
  oddIds,
  oddMethods,
  oddNames,
  oddNumbers,
  oddQueries,
  oddTextsFor,
  oddTransferEncodings,
  oddValues,
} from './odd-values.ts'

export type SeededRandom = {
  below: (n: number) => number
  chance: (p: number) => boolean
  pick: <T>(from: readonly T[]) => T
}

/** Returns random numbers by the Mulberry32 algorithm, which is small, fast, and uniform enough to choose faults. */
export const seededRandom = (seed: number): SeededRandom => {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (n: number) => Math.floor(next() * n)
  // An index below the length always has an element.
  return { below, chance: (p) => next() < p, pick: <T>(from: readonly T[]) => from[below(from.length)] as T }
}

/** The parts of valid requests for an operation. */
export type Sound = {
  method: string
  path: string
  key: string | undefined
  /** Valid bodies to change. There are none if the operation takes no body. */
  bodies: unknown[]
  raw: Uint8Array | undefined
  contentType: string | undefined
}

export type Malformed = {
  fault: string
  bytes: Buffer
  head: boolean
  /** No request can follow on this connection, because the framing is wrong. */
  last: boolean
}

type Draft = { method: string; target: string; headers: [string, string][]; body: Buffer; last: boolean }

type ValueSlot = { value: unknown; replace: (replacement: unknown) => unknown }

/** Returns every replaceable position of a value. `replace` returns the changed value. */
const placesOf = (value: unknown): ValueSlot[] => {
  const here: ValueSlot = { value, replace: (replacement) => replacement }
  if (typeof value !== 'object' || value === null) return [here]
  const inside = Object.entries(value).flatMap(([name, item]) =>
    placesOf(item).map((place) => ({
      value: place.value,
      replace: (replacement: unknown) =>
        Array.isArray(value)
          ? value.map((old, index) => (String(index) === name ? place.replace(replacement) : old))
          : { ...value, [name]: place.replace(replacement) },
    })),
  )
  return [here, ...inside]
}

const textOf = (body: unknown): string => JSON.stringify(body ?? {})

const marker = '@@here@@'

/** Returns the body as JSON with a literal at a random position. The literal may be invalid JSON. */
const withLiteral = (random: SeededRandom, body: unknown, literal: string): string =>
  textOf(random.pick(placesOf(body)).replace(marker)).replace(`"${marker}"`, () => literal)

const insertFirst = (body: unknown, property: string): string => {
  const text = textOf(body)
  return text.startsWith('{') ? `{${property}${text === '{}' ? '' : ','}${text.slice(1)}` : text
}

const deep = (random: SeededRandom): string => {
  const levels = random.pick([63, 65, 1_000, 100_000])
  const [before, after] = random.pick([
    ['[', ']'],
    ['{"a":', '}'],
    ['[{"a":', '}]'],
  ] as const)
  return `${before.repeat(levels)}0${random.chance(0.7) ? after.repeat(levels) : ''}`
}

type BodyFault = [weight: number, name: string, make: (random: SeededRandom, body: unknown) => string | Buffer]

// Some of these faults are large, so each kind has a weight.
const bodyFaults: BodyFault[] = [
  [8, 'cut short', (random, body) => textOf(body).slice(0, random.below(textOf(body).length))],
  [12, 'another type', (random, body) => textOf(random.pick(placesOf(body)).replace(random.pick(oddValues)))],
  [8, 'odd number', (random, body) => withLiteral(random, body, random.pick(oddNumbers))],
  [4, 'control character', (random, body) => withLiteral(random, body, `"${String.fromCharCode(random.below(32))}"`)],
  [4, 'name twice', (random, body) => insertFirst(body, `"name":${textOf(random.pick(oddValues))}`)],
  [6, 'added name', (random, body) => insertFirst(body, `${JSON.stringify(random.pick(oddNames))}:{"x":1}`)],
  [4, 'odd body', (random) => random.pick(oddBodies)],
  [1, 'deep', (random, body) => withLiteral(random, body, deep(random))],
  [
    24,
    'odd text',
    (random, body) => {
      const { value, replace } = random.pick(placesOf(body))
      return textOf(replace(random.pick(oddTextsFor(value))))
    },
  ],
  [
    6,
    'odd name',
    (random, body) => {
      const name = JSON.stringify(random.pick(oddNames))
      return withLiteral(random, body, `{${name}:${textOf(random.pick(oddValues))}}`)
    },
  ],
  [
    6,
    'bytes that are no text',
    (random, body) => {
      const bytes = Buffer.from(textOf(body))
      const at = random.below(bytes.length + 1)
      return Buffer.concat([bytes.subarray(0, at), Buffer.from(random.pick(oddBytes), 'hex'), bytes.subarray(at)])
    },
  ],
  [
    6,
    'changed bytes',
    (random, body) => {
      const bytes = Buffer.from(textOf(body))
      for (let changes = random.below(4); changes >= 0; changes--) bytes[random.below(bytes.length)] = random.below(256)
      return bytes
    },
  ],
  [
    1,
    'long text',
    (random, body) => {
      const text = random.pick(['x', 'é', '\u0001']).repeat(random.pick([300, 100_000, 600_000]))
      return withLiteral(random, body, JSON.stringify(text))
    },
  ],
  [
    1,
    'many items',
    (random, body) => withLiteral(random, body, `[${random.pick(['0,', '{},', '"a",', 'null,']).repeat(20_000)}0]`),
  ],
  [
    1,
    'many names',
    (random, body) => {
      const names = Array.from({ length: 5_000 }, (_, index) => `"n${index}":0`)
      return withLiteral(random, body, `{${names.join(',')}}`)
    },
  ],
]

const setHeader = (draft: Draft, name: string, value: string) => {
  draft.headers = [...draft.headers.filter(([present]) => present !== name), [name, value]]
}

const setBody = (draft: Draft, body: string | Buffer) => {
  draft.body = Buffer.from(body)
  setHeader(draft, 'content-length', String(draft.body.length))
}

type RequestFault = [weight: number, name: string, change: (random: SeededRandom, draft: Draft) => void]

// Faults in the operation's own path and query are the most frequent, because all operations handle everything else in
// the same way.
const requestFaults: RequestFault[] = [
  [1, 'odd content type', (random, draft) => setHeader(draft, 'content-type', random.pick(oddContentTypes))],
  [3, 'odd header', (random, draft) => setHeader(draft, ...random.pick(oddHeaders))],
  [1, 'body too large', (random, draft) => setBody(draft, ' '.repeat(random.pick([1_048_576, 1_048_577, 2_097_153])))],
  [
    10,
    'odd query',
    (random, draft) => {
      const parts = Array.from({ length: 1 + random.below(2) }, () => random.pick(oddQueries))
      draft.target += `?${parts.join('&')}`
    },
  ],
  [
    8,
    'odd path',
    (random, draft) => {
      const parts = draft.target.split('/')
      parts[1 + random.below(parts.length - 1)] = random.pick(oddIds)
      draft.target = parts.join('/')
    },
  ],
  [
    2,
    'odd authorization',
    (random, draft) => {
      const own = draft.headers.find(([name]) => name === 'authorization')?.[1] ?? ''
      const altered = [
        own.slice(0, -1),
        `${own}x`,
        own.toUpperCase(),
        `${own} `,
        own.replace(' ', '\t'),
        `${own},${own}`,
      ]
      setHeader(draft, 'authorization', random.pick([...oddAuthorizations, ...altered]))
      if (random.chance(0.1)) draft.headers.push(['authorization', own])
    },
  ],
  [
    1,
    'wrong length',
    (random, draft) => {
      const { length } = draft.body
      const lies = [length + 1, length + 1_000_000_000, length - 1, '-1', '1e3', '0x10', '', '9'.repeat(30), '1, 1']
      setHeader(draft, 'content-length', String(random.pick(lies)))
      if (random.chance(0.2)) draft.headers.push(['content-length', String(length)])
      draft.last = true
    },
  ],
  [
    1,
    'odd transfer encoding',
    (random, draft) => {
      const size = draft.body.length.toString(16)
      const [before = '', after = ''] = random.pick(oddChunks).replace('#', size).split('@')
      draft.body = Buffer.concat([Buffer.from(before), draft.body, Buffer.from(after)])
      setHeader(draft, 'transfer-encoding', random.pick(oddTransferEncodings))
      if (random.chance(0.7)) draft.headers = draft.headers.filter(([name]) => name !== 'content-length')
      draft.last = true
    },
  ],
  [
    1,
    'many headers',
    (random, draft) => {
      const count = random.pick([100, 500, 2_500])
      for (let index = 0; index < count; index++) draft.headers.push([`x-${index}`, ''])
    },
  ],
  [
    2,
    'body where none is',
    (random, draft) => {
      setBody(draft, random.pick(['{}', '{', 'x', '\0', '[1]']))
      if (random.chance(0.5)) setHeader(draft, 'content-type', 'application/json')
    },
  ],
  [
    2,
    'another method',
    (random, draft) => {
      draft.method = random.pick(oddMethods)
    },
  ],
]

const pickWeighted = <T extends [weight: number, ...rest: unknown[]]>(random: SeededRandom, from: readonly T[]): T => {
  let at = random.below(from.reduce((sum, [weight]) => sum + weight, 0))
  for (const choice of from) {
    at -= choice[0]
    if (at < 0) return choice
  }
  throw new Error('the weights add up to more')
}

const bytesOf = ({ method, target, headers, body }: Draft): Buffer => {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.concat([Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1'), body])
}

/** Creates a request with one to three faults, which sometimes result in a valid one. */
export const malform = (random: SeededRandom, sound: Sound): Malformed => {
  const faults: string[] = []
  const takesJson = sound.bodies.length > 0
  const content = takesJson ? random.pick(sound.bodies) : undefined
  const draft: Draft = {
    method: sound.method,
    target: sound.path,
    headers: [['host', 'localhost']],
    body: Buffer.from(sound.raw ?? (takesJson ? textOf(content) : '')),
    last: false,
  }
  if (sound.key !== undefined) setHeader(draft, 'authorization', `Bearer ${sound.key}`)
  if (sound.contentType !== undefined) setHeader(draft, 'content-type', sound.contentType)
  if (random.chance(takesJson ? 0.9 : 0.1)) {
    const [, name, make] = pickWeighted(random, bodyFaults)
    draft.body = Buffer.from(make(random, content))
    faults.push(name)
  } else if (sound.raw && random.chance(0.5)) {
    draft.body = draft.body.map((byte) => (random.chance(0.2) ? random.below(256) : byte)) as Buffer
    faults.push('changed bytes')
  }
  if (draft.body.length > 0) setBody(draft, draft.body)
  while (faults.length === 0 || (faults.length < 3 && random.chance(0.25))) {
    const [, name, change] = pickWeighted(random, requestFaults)
    change(random, draft)
    faults.push(name)
  }
  return { fault: faults.join(', '), bytes: bytesOf(draft), head: draft.method === 'HEAD', last: draft.last }
}
