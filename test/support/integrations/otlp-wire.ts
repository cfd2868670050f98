// Encodes OTLP traces by hand from the published field numbers, independently of the code that reads them.
type Json = Record<string, unknown>

const varint = (given: number | bigint): Buffer => {
  const bytes: number[] = []
  let value = BigInt.asUintN(64, BigInt(given))
  for (; value > 127n; value >>= 7n) bytes.push(Number(value & 127n) | 128)
  return Buffer.from([...bytes, Number(value)])
}

const tag = (field: number, type: number) => varint((field << 3) | type)
const bytes = (field: number, value: Buffer) => Buffer.concat([tag(field, 2), varint(value.length), value])
const text = (field: number, value: unknown) => (value ? bytes(field, Buffer.from(String(value))) : Buffer.alloc(0))
const id = (field: number, value: unknown) =>
  value ? bytes(field, Buffer.from(String(value), 'hex')) : Buffer.alloc(0)
const number = (field: number, value: unknown) =>
  value === undefined ? Buffer.alloc(0) : Buffer.concat([tag(field, 0), varint(Number(value))])

const fixed64 = (field: number, value: unknown) => {
  const written = Buffer.alloc(8)
  written.writeBigUInt64LE(BigInt(String(value)))
  return Buffer.concat([tag(field, 1), written])
}

const double = (field: number, value: number) => {
  const written = Buffer.alloc(8)
  written.writeDoubleLE(value)
  return Buffer.concat([tag(field, 1), written])
}

const each = (field: number, list: unknown, write: (item: Json) => Buffer): Buffer =>
  Buffer.concat(((list ?? []) as Json[]).map((item) => bytes(field, write(item))))

const anyValue = (value: Json): Buffer => {
  if ('stringValue' in value) return bytes(1, Buffer.from(String(value.stringValue)))
  if ('boolValue' in value) return number(2, value.boolValue ? 1 : 0)
  if ('intValue' in value) return Buffer.concat([tag(3, 0), varint(BigInt(String(value.intValue)))])
  if ('doubleValue' in value) return double(4, Number(value.doubleValue))
  if ('arrayValue' in value) return bytes(5, each(1, (value.arrayValue as Json).values, anyValue))
  if ('kvlistValue' in value) return bytes(6, each(1, (value.kvlistValue as Json).values, keyValue))
  return Buffer.alloc(0)
}

const keyValue = ({ key, value }: Json): Buffer => Buffer.concat([text(1, key), bytes(2, anyValue(value as Json))])

const event = ({ timeUnixNano, name, attributes }: Json) =>
  Buffer.concat([fixed64(1, timeUnixNano), text(2, name), each(3, attributes, keyValue)])

const span = (it: Json): Buffer =>
  Buffer.concat([
    id(1, it.traceId),
    id(2, it.spanId),
    text(3, 'vendor=state'),
    id(4, it.parentSpanId),
    text(5, it.name),
    number(6, it.kind),
    fixed64(7, it.startTimeUnixNano),
    fixed64(8, it.endTimeUnixNano),
    each(9, it.attributes, keyValue),
    number(10, 3),
    each(11, it.events, event),
    ...(it.status ? [bytes(15, number(3, (it.status as Json).code))] : []),
  ])

const scopeSpans = ({ scope, spans }: Json) =>
  Buffer.concat([bytes(1, text(1, (scope as Json | undefined)?.name)), each(2, spans, span)])

const resourceSpans = ({ resource, scopeSpans: scopes }: Json) =>
  Buffer.concat([bytes(1, each(1, (resource as Json | undefined)?.attributes, keyValue)), each(2, scopes, scopeSpans)])

export const wireOf = (traces: Json): Buffer => each(1, traces.resourceSpans, resourceSpans)
