import { expect, test } from 'vitest'
import { sample } from '../../../test/samples/ingest/sample.ts'
import { wireOf } from '../../../test/support/integrations/otlp-wire.ts'
import { decodeTraces, encodeResponse } from './proto.ts'

test('protobuf reads like the JSON of the same traces', () => {
  const traces = sample('otel_genai_traces.json')
  expect(decodeTraces(wireOf(traces))).toEqual(traces)
})

test('every kind of value is read', () => {
  const values = [
    { stringValue: 'Grüße 👋' },
    { stringValue: '' },
    { boolValue: false },
    { intValue: '-9007199254740993' },
    { doubleValue: 0.25 },
    {
      arrayValue: {
        values: [{ boolValue: true }, { kvlistValue: { values: [{ key: 'k', value: { intValue: '1' } }] } }],
      },
    },
  ]
  const attributes = values.map((value, index) => ({ key: `a${index}`, value }))
  const span = {
    traceId: '5b8aa5a2d2c872e8321cf37308d69df2',
    spanId: '00000000000000a1',
    parentSpanId: '',
    name: 'x',
    startTimeUnixNano: '18446744073709551615',
    endTimeUnixNano: '1',
    attributes,
  }
  const decoded = decodeTraces(wireOf({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] }))
  expect(decoded).toEqual({ resourceSpans: [{ resource: {}, scopeSpans: [{ scope: {}, spans: [span] }] }] })
})

test('an invalid message is rejected', () => {
  for (const bytes of ['ff', '0aff', '0a05', '0b', `0a${'7f'}${'0a'.repeat(10)}`]) {
    expect(() => decodeTraces(Buffer.from(bytes, 'hex')), bytes).toThrow()
  }
  const nested = (depth: number): object =>
    depth === 0 ? { boolValue: true } : { arrayValue: { values: [nested(depth - 1)] } }
  const attributes = [{ key: 'deep', value: nested(500) }]
  const span = { traceId: '01', spanId: '02', startTimeUnixNano: '1', endTimeUnixNano: '1', attributes }
  expect(() => decodeTraces(wireOf({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] }))).toThrow(/recursion/)
})

test('a response is the published message', () => {
  expect(encodeResponse({})).toEqual(Buffer.alloc(0))
  const answer = encodeResponse({ partialSuccess: { rejectedSpans: '3', errorMessage: 'why' } })
  expect(answer.toString('hex')).toBe(`0a0708031203${Buffer.from('why').toString('hex')}`)
})
