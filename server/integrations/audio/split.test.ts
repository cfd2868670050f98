import fc from 'fast-check'
import { expect, it } from 'vitest'
import { openSplit } from './split.ts'

/** Splits text into chunks that end at these positions, and returns both parts. */
const splitOf = (text: string | Buffer, ends: number[] = []) => {
  const bytes = Buffer.from(text)
  const split = openSplit()
  const places = [...new Set([0, ...ends.map((end) => end % (bytes.length + 1)), bytes.length])].sort((a, b) => a - b)
  const parts = places.slice(1).map((end, index) => split.push(bytes.subarray(places[index], end)))
  return {
    audio: Buffer.concat(parts.map(({ audio }) => audio)),
    rest: Buffer.concat(parts.map(({ rest }) => rest)).toString(),
    isSound: split.isSound(),
  }
}

const ends = fc.array(fc.nat(5_000), { maxLength: 40 })

/** The ways in which JSON writers encode the same Base64 text. */
const forms: Record<string, (base64: string) => string> = {
  plain: (base64) => base64,
  'without padding': (base64) => base64.replace(/=+$/, ''),
  'with escaped slashes': (base64) => base64.replaceAll('/', '\\/'),
  'with line breaks': (base64) => base64.replace(/.{1,76}/g, '$&\\r\\n'),
  'all escaped': (base64) => base64.replace(/./g, (c) => `\\u00${c.charCodeAt(0).toString(16)}`),
  'url-safe': (base64) => base64.replaceAll('+', '-').replaceAll('/', '_'),
}

it.each(Object.keys(forms))('extracts the audio, wherever chunks end: %s', (form) => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 600 }), ends, fc.boolean(), (bytes, places, typeIsFirst) => {
      const base64 = forms[form]?.(Buffer.from(bytes).toString('base64')) ?? ''
      const data = `"data" : {"agent_id":"a\\"{[","nested":{"full_audio":"x"}, "full\\u005faudio"\n:\t"${base64}","list":[1,"]"]}`
      const type = '"type":"post_call_audio"'
      const text = `{${typeIsFirst ? `${type},${data}` : `${data},${type}`}}`
      const { audio, rest, isSound } = splitOf(text, places)
      expect(audio).toEqual(Buffer.from(bytes))
      expect(isSound).toBe(true)
      expect(rest).toBe(text.replace(`:\t"${base64}"`, ':\t""'))
    }),
  )
})

it('leaves a text without audio unchanged', () => {
  fc.assert(
    fc.property(fc.json(), ends, (text, places) => {
      fc.pre(!text.includes('full_audio'))
      expect(splitOf(text, places)).toMatchObject({ audio: Buffer.alloc(0), rest: text })
    }),
  )
})

it.each([
  '{"full_audio":"AAAA"}',
  '{"data":{"data":{"full_audio":"AAAA"}}}',
  '{"data":[{"full_audio":"AAAA"}]}',
  '["data",{"full_audio":"AAAA"}]',
  '[{"data":{"full_audio":"AAAA"}}]',
  '{"data":{"full_audio":["AAAA"]}}',
  '{"data":{"a":"full_audio","b":"AAAA"}}',
  '{"other":{"full_audio":"AAAA"}}',
  '{"data":{"full_audio":null,"b":"AAAA"}}',
])('%s contains no audio', (text) => {
  expect(splitOf(text)).toMatchObject({ audio: Buffer.alloc(0), rest: text })
})

it.each(['AA*A', 'AAAAA', 'AA==AA', 'A\\"A', 'AA\\u00e9A', 'AA\\bA', 'AAé', 'AA\\u0000A'])(
  '%s is not Base64',
  (text) => {
    expect(splitOf(`{"data":{"full_audio":"${text}"}}`).isSound).toBe(false)
  },
)

it('accepts any bytes, in linear time', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), ends, (bytes, places) => void splitOf(Buffer.from(bytes), places)),
  )
  const worst = [
    `{"data":{"full_audio":"${'\\/'.repeat(4_000_000)}`,
    '{'.repeat(8_000_000),
    `{"${'a'.repeat(8_000_000)}`,
  ]
  for (const text of worst) {
    const started = performance.now()
    splitOf(text)
    expect(performance.now() - started).toBeLessThan(5_000)
  }
})
