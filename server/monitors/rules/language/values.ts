import type { SoundMeasures } from '../../../sound-measures/measures.ts'
import type { Signals } from '../../../transcripts/signals/signals.ts'
import type { Turn } from '../../../transcripts/turn.ts'

/** Defines the types of rules and their values. Every field can be missing from a conversation. */

const timestamp = 'google.protobuf.Timestamp'

/** Numbers are doubles, because most measurements are not integers. Only list indexes are ints. */
export const types = {
  Conversation: {
    id: 'string',
    externalId: 'string',
    agentId: 'string',
    agentVersionId: 'string',
    companyId: 'string',
    channel: 'string',
    direction: 'string',
    status: 'string',
    startedAt: timestamp,
    endedAt: timestamp,
    durationSeconds: 'double',
    endReason: 'string',
    customerId: 'string',
  },
  Signals: {
    turns: 'Sides',
    words: 'Sides',
    talkRatio: 'double',
    wordsPerMinute: 'Sides',
    responseLatencyMs: 'ResponseLatency',
    firstWordMs: 'double',
    interruptions: 'Interruptions',
    overlapMs: 'double',
    longestSilenceMs: 'double',
    deadAirShare: 'double',
    toolCalls: 'double',
    toolFailures: 'double',
  } satisfies Record<keyof Signals, string>,
  Sides: { agent: 'double', customer: 'double' } satisfies Record<keyof Signals['turns'], string>,
  ResponseLatency: { p50: 'double', p95: 'double', max: 'double' } satisfies Record<
    keyof Signals['responseLatencyMs'],
    string
  >,
  Interruptions: { byAgent: 'double', byCustomer: 'double' } satisfies Record<keyof Signals['interruptions'], string>,
  Sound: {
    responseMs: 'SpreadBySide',
    firstSpeechMs: 'Sides',
    talkMs: 'Sides',
    talkRatio: 'double',
    talkOverMs: 'double',
    interruptions: 'Sides',
    stopMs: 'SpreadBySide',
    silenceMs: 'double',
    longestSilenceMs: 'double',
    speechDb: 'Sides',
    noiseDb: 'Sides',
    loudnessLufs: 'Sides',
    loudnessDifferenceLu: 'double',
    overallLoudnessLufs: 'double',
    loudnessRangeLu: 'double',
    echoDb: 'Sides',
    peakDb: 'double',
    clippedSamples: 'double',
    dropouts: 'double',
    packetGaps: 'double',
    dtmfDigits: 'double',
    tones: 'double',
    beeps: 'double',
    holdMusicMs: 'double',
    cutOffEnds: 'double',
    reportedLatencyDifferenceMs: 'double',
  } satisfies Record<keyof SoundMeasures, string>,
  SpreadBySide: { agent: 'Spread', customer: 'Spread' } satisfies Record<keyof SoundMeasures['responseMs'], string>,
  Spread: { count: 'double', p50: 'double', p95: 'double', max: 'double' } satisfies Record<
    keyof NonNullable<SoundMeasures['responseMs']['agent']>,
    string
  >,
  Turn: {
    index: 'int',
    role: 'string',
    kind: 'string',
    text: 'string',
    startMs: 'double',
    endMs: 'double',
    interrupted: 'bool',
    tool: 'Tool',
    latency: 'Latency',
  } satisfies Record<Exclude<keyof Turn, 'words'>, string>,
  Tool: { callId: 'string', name: 'string', arguments: 'dyn', result: 'dyn', isError: 'bool' } satisfies Record<
    keyof NonNullable<Turn['tool']>,
    string
  >,
  Latency: {
    transcriptionMs: 'double',
    endOfTurnMs: 'double',
    modelMs: 'double',
    voiceMs: 'double',
    totalMs: 'double',
  } satisfies Record<keyof NonNullable<Turn['latency']>, string>,
}
export type TypeName = keyof typeof types

export const variables: Record<string, string> = {
  conversation: 'Conversation',
  signals: 'Signals',
  sound: 'Sound',
  turns: 'list<Turn>',
  metadata: 'map<string, dyn>',
  metrics: 'map<string, dyn>',
}

/** The variables for a condition on the fields that a judge has extracted. */
export const fieldVariables: Record<string, string> = { fields: 'map<string, dyn>' }

/** Fields with a fixed set of values. */
export const choices: Record<string, readonly string[]> = {
  'Conversation.channel': ['call', 'chat', 'voicemail'],
  'Conversation.direction': ['inbound', 'outbound'],
  'Conversation.status': ['in_progress', 'completed', 'failed'],
  'Turn.role': ['agent', 'customer', 'system', 'tool', 'human_agent', 'other'] satisfies Turn['role'][],
  'Turn.kind': ['message', 'tool_call', 'tool_result', 'event'] satisfies Turn['kind'][],
}

/** A value of one of these types. Its fields read the input, and a null field has no value. */
export type Value<Given extends object = object> = { readonly given: Given }
type Shape = new (given: object) => Value

/** Converts JSON to values of the language. Maps only have their own keys, and a null entry counts as missing. */
export const jsonOf = (given: unknown): unknown => {
  if (typeof given !== 'object' || given === null) return given
  if (Array.isArray(given)) return given.map(jsonOf)
  const map = new Map<string, unknown>()
  for (const name of Object.keys(given)) {
    const value = (given as Record<string, unknown>)[name]
    if (value !== null) map.set(name, jsonOf(value))
  }
  return map
}

/** Input that has already been parsed. It can be large, and a loop can read it repeatedly. */
const read = new WeakMap<object, unknown>()

const jsonOnce = (given: unknown): unknown => {
  if (typeof given !== 'object' || given === null) return given
  const known = read.get(given) ?? jsonOf(given)
  read.set(given, known)
  return known
}

const same = (given: unknown) => given

const readers: Record<string, (given: unknown) => unknown> = {
  string: same,
  double: same,
  bool: same,
  int: (given) => BigInt(given as number),
  dyn: jsonOnce,
  [timestamp]: (given) => new Date(given as string),
}

/** Creates a class for a type, because the library identifies a value's type by its constructor. */
const shapeOf = (fields: Record<string, string>): Shape => {
  class Fields {
    readonly given: Record<string, unknown>
    constructor(given: object) {
      this.given = given as Record<string, unknown>
    }
  }
  for (const [name, type] of Object.entries(fields)) {
    const readField = (given: unknown) => (readers[type] ?? same)(given)
    Object.defineProperty(Fields.prototype, name, {
      get(this: Fields) {
        const given = this.given[name]
        return given === null || given === undefined ? undefined : readField(given)
      },
    })
  }
  return Fields
}

/** The classes are added below. */
export const shapes = {} as Record<TypeName, Shape>
const fieldsByShape = new Map<unknown, Record<string, string>>()
for (const name of Object.keys(types) as TypeName[]) {
  const shape = shapeOf(types[name])
  shapes[name] = shape
  fieldsByShape.set(shape, types[name])
  readers[name] = (given) => new shape(given as object)
}

/** Returns a field of a value, but no built-in JavaScript properties. */
export const fieldOf = (value: object, name: string): unknown =>
  // The class defines its fields with these names.
  Object.hasOwn(fieldsByShape.get(value.constructor) ?? {}, name) ? (value as Record<string, unknown>)[name] : undefined
