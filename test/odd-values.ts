// Lists values at the limits of what is valid, and beyond them.

const numbers =
  '1e400|-1e400|9223372036854775808|-9223372036854775809|-0|1e308|5e-324|2147483648|9007199254740993|1.5|-1|0|NaN|' +
  'Infinity|0x10|01|+1|.5|1e|123456789012345678901234567890|9999999999.999|99999999999|1e-400'

const dates =
  '9999-12-31T23:59:59.999-23:59|9999-12-31T23:59:59.999999999Z|0001-01-01T00:00:00+23:59|0000-01-01T00:00:00Z|' +
  '2027-02-29T00:00:00Z|2028-02-29T00:00:00Z|2027-01-01T24:00:00Z|2027-12-31T23:59:60Z|+010000-01-01T00:00:00Z|' +
  '2027-01-01|2027-01-01T00:00:00|2027-13-01T00:00:00Z|275760-09-13T00:00:00Z|2027-01-01T00:00:00+24:00|now'

const emails = `a@b|a@b.c|@|"a b"@example.com|ä@exämple.com|a@@b.example|a@b.example\n|${'a'.repeat(64)}@${'b.'.repeat(90)}example.com|A@B.EXAMPLE|a@xn--.example|İ@example.com|a@[127.0.0.1]|a+b@example.com`

const urls = `https://example.com/\u0000|https://[::|https://xn--a|https://example.com:99999/|https://1/|https:|https://|//example.com|https://exa\nmple.com/|https://example.com/${'é'.repeat(2_000)}|https://example.com%00/|https://..|https://a..b/|https://0x7f.1/|HTTPS://EXAMPLE.COM|https://example.com\\@localhost/`

const texts =
  ` |\t\n\r|\u0000|a\u0000b|\ud800|\udfff\ud800|\ufeff|\u202e|👩‍👩‍👧‍👦|ﷺ|İ|ß|'; DROP TABLE companies; --|%s%n|$1|\${7*7}|{{7*7}}|<script>|` +
  '../../etc/passwd|\\|"|%00|null|undefined|true|[object Object]|__proto__|constructor|toString|-1|0|owner|OWNER|' +
  `00000000-0000-0000-0000-000000000000|FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF|${'a'.repeat(255)}|${'é'.repeat(256)}|${'-'.repeat(63)}|${'🦊'.repeat(255)}`

const split = (values: string) => values.split('|')

/** Literals to use as JSON numbers. Not all of them are valid JSON. */
export const oddNumbers = split(numbers)

const edges: [looks: RegExp, values: string[]][] = [
  [/^\d{4}-\d\d-\d\d/, split(dates)],
  [/^[^@]+@[^@]+$/, split(emails)],
  [/^https?:/, split(urls)],
]
const allTexts = [...split(texts), ...split(dates), ...split(emails), ...split(urls), '']

/**
 * Returns strings that can replace a value: values at the limits of its apparent type, or all strings if it has none.
 */
export const oddTextsFor = (value: unknown): string[] =>
  edges.find(([looks]) => typeof value === 'string' && looks.test(value))?.[1] ?? allTexts

export const oddValues: unknown[] = [null, true, false, 0, -1, 1.5, 1e21, '', 'text', [], {}, [[]], [null], { a: 1 }]

export const oddNames = [
  ...split(
    '__proto__|constructor|prototype|toString|hasOwnProperty|valueOf|then|length|$ref|a.b|a[0]|~|/|0|-1| name|NAME',
  ),
  '',
  '\u0000',
  '\ud800',
  'x'.repeat(10_000),
]

export const oddIds = [
  ...split(
    '%00|%|%zz|%ed%a0%80|%ff|..|%2e%2e|%2F|.|null|-1|0|constructor|__proto__|%F0%9F%92%A9|é| |%20|*|;a=b|%u0000|',
  ),
  ...split(
    '{00000000-0000-0000-0000-000000000000}|00000000000000000000000000000000|FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF',
  ),
  '00000000-0000-0000-0000-000000000000%0A',
  'x'.repeat(5_000),
]

export const oddQueries = [
  ...split(
    '%|%zz=1|a=%|%00=1|a=%00|a=%ed%a0%80|limit[]=1|limit[a]=1|limit=1&limit=2|=|=1|&&&|?|#|limit=1e400|limit=-0',
  ),
  ...split(
    'limit=9223372036854775808|limit=NaN|limit=%31|limit=0x10|limit=+5|limit=5.0|cursor=|cursor=AAAA|cursor=%00',
  ),
  ...split('__proto__=1|__proto__[x]=1|constructor=1|constructor.prototype=1|toString=1|hasOwnProperty=1|cursor=é'),
  `cursor=${'A'.repeat(1_000)}`,
  `cursor=${'A'.repeat(1_001)}`,
  'cursor=AAAAAAAAAAAAAAAAAAAA%0A',
  `a=${'x'.repeat(8_000)}`,
  Array.from({ length: 500 }, (_, i) => `p${i}=1`).join('&'),
]

export const oddAuthorizations = [
  ...split('|Bearer|Bearer |Bearer  |bearer x|Bearer a b|Basic Og==|Digest x|Bearer \x80\xff|Bearer ear_|Bearer null'),
  'Bearer __proto__',
  '\t',
  ',',
  `Bearer ${'x'.repeat(4_000)}`,
  `Bearer ear_${'0'.repeat(38)}`,
]

export const oddContentTypes = [
  ...split('|text/plain|application/xml|application/json; charset=utf-16|application/json;|json|*/*|\xff|/|IMAGE/PNG'),
  ...split('application/json, application/json|multipart/form-data; boundary=x|application/x-www-form-urlencoded'),
  ...split('image/svg+xml|image/png; x=y|application/vnd.api+json|APPLICATION/JSON|application/json; charset="utf-8"'),
  `application/json; x=${'y'.repeat(5_000)}`,
]

const headerValues: Record<string, string[]> = {
  'x-request-id': [...split('| |\xff\xfe|a b|"|{"a":1}|$jndi:ldap://x|\t'), 'x'.repeat(129)],
  range: [
    ...split('bytes=|bytes=0-|bytes=-1|bytes=9-1|bytes=0-0,2-3|bytes=1e9-|chars=0-1'),
    `bytes=${'0-0,'.repeat(1_000)}`,
  ],
  'content-encoding': split('gzip|br|identity|gzip, gzip|nonsense|'),
  expect: split('100-continue|nonsense|'),
  'x-forwarded-for': [...split('127.0.0.1|::1|unknown|" OR 1=1'), '1.2.3.4, '.repeat(100)],
  'x-forwarded-host': split('x|*|evil.example|a:b:c|[::1|127.0.0.1:99999'),
  host: split('x|*|evil.example|a:b:c|[::1|a b|\xff'),
  upgrade: ['websocket', 'h2c'],
  connection: split('upgrade|close, keep-alive|close|x'),
  cookie: ['__proto__=1; '.repeat(200), '=;=;;%zz', 'earshot=x', `a=${'%ff'.repeat(500)}`],
  origin: split('null|https://evil.example|x'),
  'if-none-match': ['*'],
  'if-match': ['"x"'],
  'if-range': ['"x"'],
  accept: ['text/html;q=nonsense'],
  'accept-version': ['9.9.9'],
  trailer: ['authorization'],
  te: ['trailers'],
  'x-http-method-override': ['DELETE'],
  [`x-${'x'.repeat(2_000)}`]: ['y'],
  'x-long': ['y'.repeat(10_000)],
}
export const oddHeaders = Object.entries(headerValues).flatMap(([name, values]) =>
  values.map((value): [string, string] => [name, value]),
)

export const oddMethods = split('HEAD|OPTIONS|TRACE|PUT|PATCH|DELETE|POST|GET|QUERY|PROPFIND|LOCK')

/** Bytes in hexadecimal that are invalid UTF-8, or invalid in JSON. */
export const oddBytes = split('ff|c080|eda080|f8888080|e282|feff|efbbbf|00|80')

/** Chunked bodies, with @ for the body and # for its size. Most of them are invalid. */
export const oddChunks = [
  '#\r\n@\r\n0\r\n\r\n',
  '#\r\n@',
  'zz\r\n@\r\n0\r\n\r\n',
  'ffffffffffffffff\r\n@\r\n0\r\n\r\n',
  '-1\r\n@',
  '',
  `#;${'x'.repeat(100)}\r\n@\r\n0\r\n\r\n`,
  `#;${'x'.repeat(20_000)}\r\n@\r\n0\r\n\r\n`,
  '#\r\n@\r\n0\r\nauthorization: x\r\n\r\n',
]
export const oddTransferEncodings = split('chunked|chunked, chunked|gzip, chunked|identity|x|')

export const oddBodies = split(' |\n|null|""|0|{}|[]|[{}]|{}{}|{},|\ufeff{}|')
