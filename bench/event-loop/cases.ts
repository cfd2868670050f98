import { createHmac, randomUUID } from 'node:crypto'
import { worstValues } from '../../test/worst-bodies.ts'

export type BodyCase = { name: string; bytes: Buffer; headers?: Record<string, string>; path?: string }
export type SpecialCase = {
  name: string
  method: string
  path: string
  contentType: string
  key: string | undefined
  bodies: () => BodyCase[]
}

type Call = (method: string, path: string, key: string, body?: object) => Promise<Record<string, never>>

const mebibyte = 1024 * 1024
const conversation = () =>
  `"externalId":"${randomUUID()}","agent":{"externalId":"leo","name":"Leo","channel":"voice"},"channel":"call",` +
  '"startedAt":"2026-11-20T09:00:00Z"'

/** Returns all worst values of a size, each inside a string. */
const around = (bytes: number, write: (value: string) => string, headers?: (body: Buffer) => Record<string, string>) =>
  Object.entries(worstValues).map(([name, value]): BodyCase => {
    const body = Buffer.from(write(value(bytes)))
    return { name, bytes: body, ...(headers && { headers: headers(body) }) }
  })

/** Joins items until the size is reached. */
const many = (bytes: number, item: (index: number) => string, separator: string, most: number): string => {
  const items: string[] = []
  for (let room = bytes; room > 0 && items.length < most; room -= items.at(-1)?.length ?? 0) {
    items.push(item(items.length))
  }
  return items.join(separator)
}

const digits = '555-010-0199 4111 1111 1111 1111 ada@example.com '

/** Returns a protobuf field of bytes. */
const field = (number: number, value: Buffer): Buffer => {
  const length: number[] = []
  for (let left = value.length; ; left >>>= 7) {
    if (left < 128) {
      length.push(left)
      break
    }
    length.push((left & 127) | 128)
  }
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...length]), value])
}

/** Returns cases that schemas don't show: valid bodies that are slow to process. */
export const specialCases = async ({ call, key }: { call: Call; key: string }): Promise<SpecialCase[]> => {
  await call('PATCH', '/v1/organization', key, { redaction: true })
  const json = 'application/json'
  const stored = await call(
    'POST',
    '/v1/conversations',
    key,
    JSON.parse(`{${conversation()},"transcript":"Agent: Hi"}`),
  )
  const monitor = await call('POST', '/v1/monitors', key, { name: 'Outside', kind: 'external', definition: {} })
  const webhookOf = async (provider: string, settings: object): Promise<string> => {
    const made = await call('POST', '/v1/integrations', key, {
      provider,
      name: provider,
      secret: 'secret-0123456789',
      settings,
    })
    return made.webhookPath as unknown as string
  }
  const retell = await webhookOf('retell', {})
  const vapi = await webhookOf('vapi', { scheme: 'secret' })
  const twilio = await webhookOf('twilio', { accountSid: 'AC00000000000000000000000000000001' })
  const signRetell = (body: Buffer) => {
    const now = String(Date.now())
    const digest = createHmac('sha256', 'secret-0123456789').update(body).update(now).digest('hex')
    return { 'x-retell-signature': `v=${now},d=${digest}` }
  }
  const filter = (condition: (index: number) => object, count: number) => ({
    metadata: Array.from({ length: count }, (_, index) => condition(index)),
  })
  const post = (name: string, path: string, bodies: () => BodyCase[], contentType = json): SpecialCase => ({
    name: `POST ${name}`,
    method: 'POST',
    path,
    contentType,
    key,
    bodies,
  })
  return [
    post('/v1/conversations with a transcript', '/v1/conversations', () => [
      ...around(mebibyte - 500, (value) => `{${conversation()},"transcript":${value}}`),
    ]),
    post('/v1/conversations with metadata', '/v1/conversations', () => [
      ...around(63 * 1024, (value) => `{${conversation()},"metadata":{"a":${value}}}`),
      ...around(mebibyte - 500, (value) => `{${conversation()},"metadata":{"a":${value}}}`),
    ]),
    post('/v1/conversations/batch of long transcripts', '/v1/conversations/batch', () => [
      ...around(4_000_000, (value) => `{"conversations":[{${conversation()},"transcript":${value}}]}`),
    ]),
    post('/v1/conversations/batch of 1,000', '/v1/conversations/batch', () => [
      {
        name: 'of 32 KiB',
        bytes: Buffer.from(
          `{"conversations":[${many(31 * mebibyte, () => `{${conversation()},"transcript":${worstValues.turns?.(31 * 1024)}}`, ',', 1_000)}]}`,
        ),
      },
      {
        name: 'of 15 KiB of digits',
        bytes: Buffer.from(
          `{"conversations":[${many(15 * mebibyte, () => `{${conversation()},"transcript":"${digits.repeat(300)}"}`, ',', 1_000)}]}`,
        ),
      },
      {
        name: 'of metadata',
        bytes: Buffer.from(
          `{"conversations":[${many(31 * mebibyte, () => `{${conversation()},"metadata":{"a":${worstValues['empty objects']?.(30 * 1024)}}}`, ',', 1_000)}]}`,
        ),
      },
      {
        name: 'with many faults each',
        bytes: Buffer.from(
          `{"conversations":[${many(31 * mebibyte, () => `{"channel":1,"metrics":[${'{"key":1},'.repeat(190)}1]}`, ',', 1_000)}]}`,
        ),
      },
    ]),
    post(
      '/v1/conversations/batch of lines',
      '/v1/conversations/batch',
      () => [
        ...around(4_000_000, (value) => `{${conversation()},"transcript":${value}}\n`.repeat(2)),
        { name: 'empty objects', bytes: Buffer.from('{}\n'.repeat(500_000)) },
        {
          name: 'of small transcripts',
          bytes: Buffer.from(
            many(16 * mebibyte, () => `{${conversation()},"transcript":"Agent: Hi\\nCaller: Hello"}`, '\n', 1e6),
          ),
        },
      ],
      'application/x-ndjson',
    ),
    {
      name: 'PATCH /v1/conversations/{id} with a transcript',
      method: 'PATCH',
      contentType: json,
      key,
      path: `/v1/conversations/${stored.id}`,
      bodies: () => [...around(mebibyte - 500, (value) => `{"transcript":${value}}`)],
    },
    {
      name: 'GET /v1/conversations/{id}/transcript',
      method: 'GET',
      contentType: json,
      key,
      path: `/v1/conversations/${stored.id}/transcript`,
      bodies: () => [{ name: 'what was stored last', bytes: Buffer.alloc(0) }],
    },
    post('/v1/integrations/{id}/webhook of Retell', retell, () =>
      around(
        4_000_000,
        (value) =>
          `{"event":"call_ended","call":{"call_id":"${randomUUID()}","agent_id":"a","start_timestamp":1763629200000,"end_timestamp":1763629300000,"transcript_object":${value}}}`,
        signRetell,
      ),
    ),
    post('/v1/integrations/{id}/webhook of Vapi', vapi, () =>
      around(
        4_000_000,
        (value) =>
          `{"message":{"type":"end-of-call-report","call":{"id":"${randomUUID()}"},"startedAt":"2026-11-20T09:00:00Z","artifact":{"messages":${value}}}}`,
        () => ({ 'x-vapi-secret': 'secret-0123456789' }),
      ),
    ),
    {
      name: 'POST /v1/integrations/{id}/webhook unsigned',
      method: 'POST',
      path: twilio,
      key: undefined,
      contentType: 'application/x-www-form-urlencoded',
      bodies: () => [
        { name: 'fields', bytes: Buffer.from(many(570_000, (index) => `f${index}=`, '&', 1e6)) },
        {
          name: 'fields, with a signature',
          bytes: Buffer.from(many(64_000, (index) => `f${index}=`, '&', 1e6).slice(0, 64 * 1024)),
          headers: { 'x-twilio-signature': Buffer.alloc(20).toString('base64') },
        },
      ],
    },
    post('/v1/otlp/v1/traces as JSON', '/v1/otlp/v1/traces', () => [
      ...around(4_000_000, (value) => `{"resourceSpans":${value}}`),
      {
        name: 'spans',
        bytes: Buffer.from(
          `{"resourceSpans":[{"scopeSpans":[{"spans":[${many(
            4_000_000,
            (index) =>
              `{"traceId":"${'1'.repeat(32)}","spanId":"${String(index + 1).padStart(16, '0')}","name":"chat","startTimeUnixNano":"1763629200000000000","endTimeUnixNano":"1763629201000000000","attributes":[{"key":"a","value":{"stringValue":"${digits.repeat(12)}"}}]}`,
            ',',
            9_900,
          )}]}]}]}`,
        ),
      },
    ]),
    post(
      '/v1/otlp/v1/traces as protobuf',
      '/v1/otlp/v1/traces',
      () => [
        { name: 'empty messages', bytes: Buffer.alloc(4_000_000, Buffer.from([0x0a, 0])) },
        { name: 'fewer empty messages', bytes: Buffer.alloc(990_000, Buffer.from([0x0a, 0])) },
        { name: 'a long text', bytes: field(1, field(2, field(2, field(5, Buffer.alloc(4_000_000, 0x61))))) },
        { name: 'attributes', bytes: field(1, field(1, Buffer.alloc(990_000, Buffer.from([0x0a, 0])))) },
      ],
      'application/x-protobuf',
    ),
    ...[
      'roark/v1/call',
      'coval/v1/conversations:submit',
      'cekura/observability/v1/observe/',
      'bluejay/v1/evaluate',
    ].map((path) =>
      post(`/v1/integrations/${path}`, `/v1/integrations/${path}`, () =>
        ['transcript', 'messages', 'transcript_json', 'metadata', 'properties'].flatMap((name) =>
          around(
            500_000,
            (value) => `{"external_id":"${randomUUID()}","startedAt":"2026-11-20T09:00:00Z","${name}":${value}}`,
          ).map((body) => ({ ...body, name: `${name}: ${body.name}` })),
        ),
      ),
    ),
    post('/v1/monitor-results of 1,000', '/v1/monitor-results', () => [
      {
        name: 'with reasons of digits',
        bytes: Buffer.from(
          JSON.stringify({
            results: Array.from({ length: 1_000 }, () => ({
              monitorId: monitor.id,
              conversationId: stored.id,
              result: 'affected',
              reasoning: digits.repeat(150),
            })),
          }),
        ),
      },
      {
        name: 'with evidence',
        bytes: Buffer.from(
          JSON.stringify({
            results: Array.from({ length: 1_000 }, () => ({
              monitorId: monitor.id,
              conversationId: stored.id,
              result: 'affected',
              evidence: Array.from({ length: 100 }, (_, turn) => ({ turn, quote: digits })),
            })),
          }),
        ),
      },
    ]),
    post('/v1/customer-metrics of 1,000', '/v1/customer-metrics', () => [
      {
        name: 'with comments of digits',
        bytes: Buffer.from(
          JSON.stringify({
            metrics: Array.from({ length: 1_000 }, (_, index) => ({
              conversationId: stored.id,
              key: `k${index % 190}`,
              value: digits.repeat(5),
              comment: digits.repeat(20),
            })),
          }),
        ),
      },
    ]),
    post('/v1/conversations/search', '/v1/conversations/search', () => [
      {
        name: 'conditions',
        bytes: Buffer.from(
          JSON.stringify({
            filter: filter((index) => ({ key: `k${index}`, op: 'contains', value: 'a'.repeat(200) }), 3_000),
          }),
        ),
      },
      { name: 'a text of words', bytes: Buffer.from(JSON.stringify({ filter: { text: 'a b '.repeat(200_000) } })) },
      { name: 'a text of quotes', bytes: Buffer.from(JSON.stringify({ filter: { text: '"a" -'.repeat(200_000) } })) },
    ]),
    post('/v1/findings', '/v1/findings', () => [
      {
        name: 'a document of paragraphs',
        bytes: Buffer.from(
          `{"title":"A","description":{"type":"doc","content":[${many(250_000, () => '{"type":"paragraph"}', ',', 1e6)}]}}`,
        ),
      },
      {
        name: 'a document of links',
        bytes: Buffer.from(
          `{"title":"A","description":{"type":"doc","content":[{"type":"paragraph","content":[${many(
            250_000,
            () => '{"type":"text","text":"a","marks":[{"type":"link","attrs":{"href":"https://a.example"}}]}',
            ',',
            1e6,
          )}]}]}}`,
        ),
      },
    ]),
    post('/v1/monitors with a rule', '/v1/monitors', () =>
      Object.entries({
        brackets: '('.repeat(4_000),
        sums: `1${'+1'.repeat(4_000)} > 0`,
        lists: `${'['.repeat(30)}1${']'.repeat(30)} == []`,
        ors: `true${' || true'.repeat(1_200)}`,
        pattern: `conversation.endReason.matches("${'(a+)+'.repeat(500)}$")`,
        text: `"${'a'.repeat(900_000)}" == ""`,
        nots: `${'!'.repeat(9_000)}true`,
      }).map(([name, expression]) => ({
        name,
        bytes: Buffer.from(JSON.stringify({ name: 'Rule', kind: 'rule', definition: { expression } })),
      })),
    ),
  ]
}
