import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ApiError } from '../platform/errors.ts'
import { checkRichText } from './check.ts'
import { plainText } from './plain-text.ts'

type Json = Record<string, unknown>

const doc = (...content: unknown[]) => ({ type: 'doc', content })
const text = (words: string, ...marks: Json[]) => ({ type: 'text', text: words, ...(marks.length > 0 && { marks }) })
const paragraph = (...content: unknown[]) => ({ type: 'paragraph', content })
const linked = (href: unknown, attrs: Json = {}) =>
  doc(paragraph(text('here', { type: 'link', attrs: { href, ...attrs } })))

const issuesOf = (value: unknown) => {
  try {
    checkRichText(value, 'body')
    return []
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return error.details?.issues ?? []
  }
}
const pathsOf = (value: unknown) => issuesOf(value).map(({ path }) => path)

/**
 * These documents come from `editor.getJSON()` of TipTap 3.34 with StarterKit, TaskList, TaskItem (nested), and
 * Mention.
 */
const attrs = { target: '_blank', rel: 'noopener noreferrer nofollow', class: null, title: null }
const made: Record<string, { document: unknown; says: string }> = {
  'nothing yet': { document: doc({ type: 'paragraph' }), says: '' },
  'every mark, single and combined': {
    document: doc(
      paragraph(
        ...['bold', 'italic', 'strike', 'underline', 'code'].map((type) => text(type, { type })),
        text(' all ', { type: 'link', attrs: { href: 'https://a.example', ...attrs } }, { type: 'bold' }),
        { type: 'hardBreak', marks: [{ type: 'bold' }] },
        text('after'),
      ),
    ),
    says: 'bolditalicstrikeunderlinecode all \nafter',
  },
  'headings and a rule': {
    document: doc(
      ...[1, 2, 3, 4, 5, 6].map((level) => ({ type: 'heading', attrs: { level }, content: [text(`h${level}`)] })),
      { type: 'heading', attrs: { level: 1 } },
      { type: 'horizontalRule' },
      { type: 'paragraph' },
    ),
    says: 'h1\nh2\nh3\nh4\nh5\nh6',
  },
  'lists in lists': {
    document: doc(
      {
        type: 'bulletList',
        content: [
          {
            type: 'listItem',
            content: [
              paragraph(text('one')),
              {
                type: 'orderedList',
                attrs: { start: 3, type: null },
                content: [{ type: 'listItem', content: [paragraph(text('three')), { type: 'codeBlock' }] }],
              },
            ],
          },
        ],
      },
      {
        type: 'taskList',
        content: [{ type: 'taskItem', attrs: { checked: true }, content: [paragraph(text('done'))] }],
      },
      { type: 'paragraph' },
    ),
    says: 'one\nthree\n\ndone',
  },
  'code, a quotation, a mention': {
    document: doc(
      { type: 'codeBlock', attrs: { language: null }, content: [text('<script>\nalert(1)')] },
      { type: 'codeBlock', attrs: { language: 'typescript' }, content: [text('let a')] },
      { type: 'blockquote', content: [paragraph(text('she said')), { type: 'blockquote', content: [paragraph()] }] },
      paragraph({ type: 'mention', attrs: { id: 'u1', label: 'Ada', mentionSuggestionChar: '@' } }, text(' look')),
    ),
    says: '<script>\nalert(1)\nlet a\nshe said\n\n@Ada look',
  },
}

describe('documents of the editor', () => {
  it.each(Object.entries(made))('are accepted unchanged: %s', (_name, { document, says }) => {
    expect(issuesOf(document)).toEqual([])
    expect(plainText(checkRichText(document, 'body'))).toBe(says)
  })
})

describe('documents of other extensions', () => {
  const cell = (type: string, words: string) => ({
    type,
    attrs: { colspan: 1, rowspan: 1, colwidth: null },
    content: [paragraph(text(words))],
  })
  it.each<[name: string, document: unknown, says: string]>([
    [
      'an image',
      doc({ type: 'image', attrs: { src: 'https://a.example/a.png', alt: 'A chart', title: null } }),
      'A chart',
    ],
    ['an image in itself', doc({ type: 'image', attrs: { src: 'data:image/png;base64,iVBORw0KGgo=' } }), ''],
    [
      'a table',
      doc({
        type: 'table',
        content: [{ type: 'tableRow', content: [cell('tableHeader', 'when'), cell('tableCell', 'now')] }],
      }),
      'when\nnow',
    ],
    ['highlights', doc(paragraph(text('look', { type: 'highlight', attrs: { color: '#ffc078' } }))), 'look'],
    ['alignment', doc({ type: 'paragraph', attrs: { textAlign: null }, content: [text('left')] }), 'left'],
    [
      'what nobody knows',
      doc({ type: 'callout', attrs: { kind: 'note', open: true }, content: [text('here')] }),
      'here',
    ],
  ])('are accepted unchanged: %s', (_name, document, says) => {
    expect(issuesOf(document)).toEqual([])
    expect(checkRichText(document, 'body')).toBe(document)
    expect(plainText(checkRichText(document, 'body'))).toBe(says)
  })
})

describe('links', () => {
  it.each([
    'https://example.com',
    'HTTP://EXAMPLE.COM:8080/a?b=c#d',
    'https://exämple.com/ü',
    'https://[::1]/',
    'mailto:ada@example.com',
    'mailto:ada@example.com?subject=A%20call',
    'https://example.com/a b',
    'https://example.com/?q=javascript:alert(1)',
  ])('%j is valid', (href) => {
    expect(issuesOf(linked(href))).toEqual([])
  })

  it.each([
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    ' javascript:alert(1)',
    '\u0001javascript:alert(1)',
    'java\tscript:alert(1)',
    'java\nscript:alert(1)',
    'java\u0000script:alert(1)',
    'javascript\u200b:alert(1)',
    'javascript&#58;alert(1)',
    '&#106;avascript:alert(1)',
    'javascript&colon;alert(1)',
    'javascript%3Aalert(1)',
    'data:text/html,<script>alert(1)</script>',
    'vbscript:x',
    'file:///etc/passwd',
    'blob:https://a.example/1',
    'ftp://example.com',
    'tel:+491',
    '//example.com',
    '/relative',
    '#top',
    '',
    'https:',
    'https:///x',
    'https:a',
    'https://',
    'https://\\evil.example',
    'https:\\\\evil.example',
    'mailto:',
    'https://[::',
    ' https://a.example',
    'ht\ttps://a.example',
    'https://a.example/\u202egnp.exe',
    'https://a.example/\r\nx',
    'https://a b.example/',
    `https://a.example/${'a'.repeat(2_048)}`,
  ])('%j is invalid', (href) => {
    expect(pathsOf(linked(href))).toEqual(['body.content[0].content[0].marks[0].attrs.href'])
  })

  it.each([[null], [5], [{}], [['https://a.example']], [{ toString: 1 }]])('%j is not a string', (href) => {
    expect(pathsOf(linked(href))).toEqual(['body.content[0].content[0].marks[0].attrs.href'])
  })

  it('require a URL, and give the linked page no access', () => {
    const mark = 'body.content[0].content[0].marks[0].attrs'
    expect(pathsOf(doc(paragraph(text('here', { type: 'link' }))))).toEqual([`${mark}.href`])
    expect(pathsOf(linked('https://a.example', { rel: 'opener' }))).toEqual([`${mark}.rel`])
    expect(pathsOf(linked('https://a.example', { target: 'top' }))).toEqual([`${mark}.target`])
    expect(pathsOf(linked('https://a.example', { onclick: 'alert(1)' }))).toEqual([`${mark}.onclick`])
  })
})

describe('a rejected document is reported with the path', () => {
  const at = 'body.content[0]'
  it.each<[name: string, document: unknown, ...paths: string[]]>([
    ['no document', paragraph(), 'body.type'],
    ['a text', 'words', 'body'],
    ['a list', [doc()], 'body'],
    ['null', null, 'body'],
    ['a type that is none', doc({ type: { toString: 1 } }), `${at}.type`],
    ['a document in a document', doc(doc()), `${at}.type`],
    ['a heading of the seventh level', doc({ type: 'heading', attrs: { level: 7 } }), `${at}.attrs.level`],
    ['attributes that are none', doc({ type: 'paragraph', attrs: [] }), `${at}.attrs`],
    ['an unknown property', doc({ type: 'paragraph', html: '<b>' }), `${at}.html`],
    ['a mark twice', doc(paragraph(text('a', { type: 'bold' }, { type: 'bold' }))), `${at}.content[0].marks`],
    ['empty text', doc(paragraph(text(''))), `${at}.content[0].text`],
    ['text that is none', doc(paragraph({ type: 'text', text: 5 })), `${at}.content[0].text`],
    ['text in a rule', doc({ type: 'horizontalRule', text: 'a' }), `${at}.text`],
    ['content that is none', doc({ type: 'paragraph', content: {} }), `${at}.content`],
    ['a node without a name', doc({ type: 'a b' }, { type: '__proto__' }), `${at}.type`, 'body.content[1].type'],
    ['a handler', doc({ type: 'paragraph', attrs: { onclick: 'x' } }), `${at}.attrs.onclick`],
    ['a style', doc({ type: 'figure', attrs: { style: 'position: fixed' } }), `${at}.attrs.style`],
    ['an address that runs', doc({ type: 'image', attrs: { src: 'java\nscript:alert(1)' } }), `${at}.attrs.src`],
    ['one of a page', doc({ type: 'iframe', attrs: { src: 'data:text/html,x' } }), `${at}.attrs.src`],
    ['one in a value', doc({ type: 'x', attrs: { list: [{ to: ' vbscript:x' }] } }), `${at}.attrs.list`],
    ['values without end', doc({ type: 'x', attrs: { a: [[[[[[]]]]]] } }), `${at}.attrs.a`],
    ['content in text', doc(paragraph({ ...text('a'), content: [text('b')] })), `${at}.content[0].content`],
    ['a mark without a name', doc(paragraph(text('a', { type: 5 as never }))), `${at}.content[0].marks[0].type`],
    ['two faults', doc({ type: '1' }, paragraph({ type: '' })), `${at}.type`, 'body.content[1].content[0].type'],
  ])('%s', (_name, document, ...paths) => {
    expect(pathsOf(document)).toEqual(paths)
  })
})

describe('limits', () => {
  const nested = (levels: number) => {
    let node: Json = paragraph(text('deep'))
    for (let level = 0; level < levels; level++) node = { type: 'blockquote', content: [node] }
    return doc(node)
  }

  it('of depth apply to a document of any depth', () => {
    // The document, seventeen quotes, a paragraph, and its text make twenty levels.
    expect(issuesOf(nested(17))).toEqual([])
    expect(issuesOf(nested(18))).toEqual([
      { path: `body${'.content[0]'.repeat(19)}.content`, message: 'is nested too deeply: at most 20 levels' },
    ])
    expect(issuesOf(nested(1_000_000))).toHaveLength(1)
  })

  it('of nodes', () => {
    const breaks = (count: number) => doc(paragraph(...Array.from({ length: count }, () => ({ type: 'hardBreak' }))))
    expect(issuesOf(breaks(9_998))).toEqual([])
    expect(issuesOf(breaks(9_999))).toEqual([{ path: 'body', message: 'must have at most 10000 nodes' }])
  })

  it('of size, in bytes', () => {
    const around = JSON.stringify(doc(paragraph(text('')))).length
    const filled = (bytes: number) => doc(paragraph(text('é'.repeat((bytes - around) >> 1) + 'e'.repeat(bytes & 1))))
    expect(issuesOf(filled(256 * 1_024))).toEqual([])
    expect(issuesOf(filled(256 * 1_024 + 2))).toEqual([{ path: 'body', message: 'must have at most 262144 bytes' }])
  })

  it('of reported faults', () => {
    expect(issuesOf(doc(...Array.from({ length: 9_000 }, () => ({ type: 'x y' }))))).toHaveLength(20)
    const marks = Array.from({ length: 21 }, (_, index) => ({ type: `mark${index}` }))
    expect(pathsOf(doc(paragraph(text('a', ...marks))))).toEqual(['body.content[0].content[0].marks'])
    const names = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`name${index}`, 1]))
    expect(issuesOf({ ...doc(), ...names })).toHaveLength(20)
  })
})

it('any JSON is accepted or rejected with faults', () => {
  const seed = Number(process.env.FUZZ_SEED ?? Date.now())
  process.stdout.write(`rich text: FUZZ_SEED=${seed}\n`)
  const nodeLike = fc.letrec((tie) => ({
    node: fc.record(
      {
        type: fc.oneof(fc.constantFrom('paragraph', 'text', 'bulletList', 'listItem', 'codeBlock', 'doc'), fc.string()),
        text: fc.anything(),
        attrs: fc.jsonValue(),
        marks: fc.oneof(
          fc.jsonValue(),
          fc.array(fc.record({ type: fc.constantFrom('bold', 'link'), attrs: fc.jsonValue() })),
        ),
        content: fc.oneof({ maxDepth: 5 }, fc.jsonValue(), fc.array(tie('node'))),
      },
      { requiredKeys: [] },
    ),
  })).node
  const check = fc.property(fc.array(nodeLike), (nodes) => {
    const given = JSON.parse(JSON.stringify(doc(...nodes)))
    if (issuesOf(given).length === 0) plainText(checkRichText(given, 'body'))
  })
  fc.assert(check, { seed, numRuns: 300 })
})
