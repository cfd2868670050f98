import {
  create,
  createFileRegistry,
  type DescMessage,
  fromBinary,
  fromJson,
  toBinary,
  toJson,
} from '@bufbuild/protobuf'
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire'
import {
  FileDescriptorProtoSchema,
  FieldDescriptorProto_Type as Kind,
  FieldDescriptorProto_Label as Label,
} from '@bufbuild/protobuf/wkt'
import { isObject } from '../../platform/is-object.ts'
import type { JsonObject } from '../../transcripts/json.ts'

/**
 * Decodes OTLP traces in protobuf. Describes the subset of `opentelemetry/proto/trace/v1` that conversations need, with
 * its JSON names. Other fields are skipped. Kinds and codes are enumerations, which are encoded as integers.
 */

type Field = [name: string, number: number, kind: keyof typeof Kind | string, options?: 'repeated' | 'oneof']

const messages: Record<string, Field[]> = {
  Request: [['resourceSpans', 1, 'ResourceSpans', 'repeated']],
  ResourceSpans: [
    ['resource', 1, 'Resource'],
    ['scopeSpans', 2, 'ScopeSpans', 'repeated'],
  ],
  Resource: [['attributes', 1, 'KeyValue', 'repeated']],
  ScopeSpans: [
    ['scope', 1, 'Scope'],
    ['spans', 2, 'Span', 'repeated'],
  ],
  Scope: [
    ['name', 1, 'STRING'],
    ['version', 2, 'STRING'],
  ],
  Span: [
    ['traceId', 1, 'BYTES'],
    ['spanId', 2, 'BYTES'],
    ['parentSpanId', 4, 'BYTES'],
    ['name', 5, 'STRING'],
    ['kind', 6, 'INT32'],
    ['startTimeUnixNano', 7, 'FIXED64'],
    ['endTimeUnixNano', 8, 'FIXED64'],
    ['attributes', 9, 'KeyValue', 'repeated'],
    ['events', 11, 'Event', 'repeated'],
    ['status', 15, 'Status'],
  ],
  Event: [
    ['timeUnixNano', 1, 'FIXED64'],
    ['name', 2, 'STRING'],
    ['attributes', 3, 'KeyValue', 'repeated'],
  ],
  Status: [
    ['message', 2, 'STRING'],
    ['code', 3, 'INT32'],
  ],
  KeyValue: [
    ['key', 1, 'STRING'],
    ['value', 2, 'AnyValue'],
  ],
  AnyValue: [
    ['stringValue', 1, 'STRING', 'oneof'],
    ['boolValue', 2, 'BOOL', 'oneof'],
    ['intValue', 3, 'INT64', 'oneof'],
    ['doubleValue', 4, 'DOUBLE', 'oneof'],
    ['arrayValue', 5, 'ArrayValue', 'oneof'],
    ['kvlistValue', 6, 'KeyValueList', 'oneof'],
    ['bytesValue', 7, 'BYTES', 'oneof'],
  ],
  ArrayValue: [['values', 1, 'AnyValue', 'repeated']],
  KeyValueList: [['values', 1, 'KeyValue', 'repeated']],
  Response: [['partialSuccess', 1, 'PartialSuccess']],
  PartialSuccess: [
    ['rejectedSpans', 1, 'INT64'],
    ['errorMessage', 2, 'STRING'],
  ],
}

/** The message type of each field, by its number. */
const kindsOf = new Map(
  Object.entries(messages).map(([name, fields]) => [
    name,
    new Map(fields.flatMap(([, number, kind]) => (kind in messages ? [[number, kind] as const] : []))),
  ]),
)

const fieldOf = ([name, number, kind, option]: Field) => ({
  name,
  jsonName: name,
  number,
  label: option === 'repeated' ? Label.REPEATED : Label.OPTIONAL,
  ...(kind in messages ? { type: Kind.MESSAGE, typeName: `.otlp.${kind}` } : { type: Kind[kind as keyof typeof Kind] }),
  ...(option === 'oneof' && { oneofIndex: 0 }),
})

const registry = createFileRegistry(
  create(FileDescriptorProtoSchema, {
    name: 'otlp.proto',
    package: 'otlp',
    syntax: 'proto3',
    messageType: Object.entries(messages).map(([name, fields]) => ({
      name,
      field: fields.map(fieldOf),
      ...(fields.some(([, , , option]) => option === 'oneof') && { oneofDecl: [{ name: 'value' }] }),
    })),
  }),
  () => undefined,
)

const descriptor = (name: string): DescMessage => {
  const found = registry.getMessage(`otlp.${name}`)
  if (!found) throw new Error(`There is no message ${name}`)
  return found
}

const request = descriptor('Request')
const response = descriptor('Response')

const listOf = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])

const hexOf = (base64: unknown): string =>
  typeof base64 === 'string' ? Buffer.from(base64, 'base64').toString('hex') : ''

/**
 * The maximum number of messages in a request. An empty message has only two bytes, but reading it creates hundreds of
 * objects. By default, exporters send far fewer.
 */
const mostMessages = 500_000

/** Decoding the request would take too much memory. */
export class TooManyMessages extends Error {}

/** Counts the messages without creating them. */
const countMessages = (bytes: Uint8Array): void => {
  let count = 0
  const walk = (name: string, part: Uint8Array): void => {
    count += 1
    if (count > mostMessages) throw new TooManyMessages(`The body contains more than ${mostMessages} messages`)
    const kinds = kindsOf.get(name)
    const reader = new BinaryReader(part)
    while (reader.pos < reader.len) {
      const [number, type] = reader.tag()
      const kind = type === WireType.LengthDelimited ? kinds?.get(number) : undefined
      if (kind === undefined) reader.skip(type, number)
      else walk(kind, reader.bytes())
    }
  }
  walk('Request', bytes)
}

/** Returns the request in its JSON form, in which OTLP writes IDs as hexadecimal. Throws if a message is invalid. */
export const decodeTraces = (bytes: Buffer): unknown => {
  countMessages(bytes)
  // Messages become objects, as described in the table above.
  const decoded = toJson(request, fromBinary(request, bytes, { readUnknownFields: false })) as JsonObject
  for (const resource of listOf(decoded.resourceSpans)) {
    for (const scope of listOf(resource.scopeSpans)) {
      for (const span of listOf(scope.spans)) {
        for (const id of ['traceId', 'spanId', 'parentSpanId']) span[id] = hexOf(span[id])
      }
    }
  }
  return decoded
}

type Response = { partialSuccess?: { rejectedSpans: string; errorMessage: string } }

export const encodeResponse = (answer: Response): Buffer => Buffer.from(toBinary(response, fromJson(response, answer)))
