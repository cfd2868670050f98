import fc from 'fast-check'
import { expect, it } from 'vitest'
import { valuesOf } from './values.ts'

const read = async (text: string | Buffer, size = 64 * 1024) => {
  const bytes = Buffer.from(text)
  const blocks = async function* () {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
  }
  const found: unknown[] = []
  for await (const each of valuesOf(blocks())) found.push('value' in each ? each.value : each.fault)
  return found
}

const records = fc.array(fc.dictionary(fc.string(), fc.jsonValue()), { minLength: 1, maxLength: 6 })

it('reads lines, arrays, and values that span lines, wherever chunks end', async () => {
  await fc.assert(
    fc.asyncProperty(records, fc.integer({ min: 1, max: 40 }), async (values, size) => {
      // Converting to JSON turns -0 into 0.
      const wanted = JSON.parse(JSON.stringify(values))
      const lines = values.map((value) => JSON.stringify(value))
      expect(await read(lines.join('\n'), size)).toEqual(wanted)
      expect(await read(`\n  ${lines.join('\r\n\n')}\n\n`, size)).toEqual(wanted)
      expect(await read(JSON.stringify(values), size)).toEqual(wanted)
      expect(await read(`\n${JSON.stringify(values, null, 2)}\n`, size)).toEqual(wanted)
      // The reader detects the format from the first line, so the line can't be empty.
      const pretty = values
        .filter((value) => Object.keys(value).length > 0)
        .map((value) => JSON.stringify(value, null, 2))
      const filled = wanted.filter((value: object) => Object.keys(value).length > 0)
      expect(await read(pretty.join('\n'), size)).toEqual(filled)
    }),
    { numRuns: 300 },
  )
})

it('reports an invalid value, and continues after it if there are lines', async () => {
  expect(await read('{"a":1}\n{"b":\n{"c":3}\n')).toEqual([{ a: 1 }, 'Not valid JSON.', { c: 3 }])
  expect(await read('[{"a":1},nonsense,{"c":3}]')).toEqual([{ a: 1 }, 'Not valid JSON.', { c: 3 }])
  expect(await read('[{"a":1},{"b":')).toEqual([{ a: 1 }, 'The file ends in the middle of a value.'])
  expect(await read(Buffer.from([0x7b, 0xff, 0x7d]))).toEqual(['Not valid UTF-8.'])
  expect(await read('')).toEqual([])
  expect(await read('[]')).toEqual([])
  expect(await read(' \n ')).toEqual([])
})
