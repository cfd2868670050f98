import fc from 'fast-check'
import { expect, it } from 'vitest'
import { checkRichText } from './check.ts'
import { richTextOf } from './markdown.ts'

const text = (value: string, ...marks: object[]) => ({ type: 'text', text: value, ...(marks.length > 0 && { marks }) })
const paragraph = (...content: object[]) => ({ type: 'paragraph', content })

it('reads Markdown as the nodes and marks of a TipTap document', () => {
  const markdown = [
    '## Refunds',
    'The agent **promises** a *refund* of `10 €`,\nsee [the policy](https://example.com/policy).',
    '1. Ask',
    '2. Pay\n   - at once',
    '> They said so',
    '```js\nrefund()\n```',
    '---',
    '| a | b |\n|---|---|\n| 1 | |',
  ].join('\n\n')
  expect(richTextOf(markdown)).toEqual({
    type: 'doc',
    content: [
      { type: 'heading', attrs: { level: 2 }, content: [text('Refunds')] },
      paragraph(
        text('The agent '),
        text('promises', { type: 'bold' }),
        text(' a '),
        text('refund', { type: 'italic' }),
        text(' of '),
        text('10 €', { type: 'code' }),
        text(','),
        text(' '),
        text('see '),
        text('the policy', { type: 'link', attrs: { href: 'https://example.com/policy' } }),
        text('.'),
      ),
      {
        type: 'orderedList',
        content: [
          { type: 'listItem', content: [paragraph(text('Ask'))] },
          {
            type: 'listItem',
            content: [
              paragraph(text('Pay')),
              { type: 'bulletList', content: [{ type: 'listItem', content: [paragraph(text('at once'))] }] },
            ],
          },
        ],
      },
      { type: 'blockquote', content: [paragraph(text('They said so'))] },
      { type: 'codeBlock', attrs: { language: 'js' }, content: [text('refund()')] },
      { type: 'horizontalRule' },
      {
        type: 'table',
        content: [
          {
            type: 'tableRow',
            content: ['a', 'b'].map((name) => ({ type: 'tableHeader', content: [paragraph(text(name))] })),
          },
          {
            type: 'tableRow',
            content: [
              { type: 'tableCell', content: [paragraph(text('1'))] },
              { type: 'tableCell', content: [{ type: 'paragraph' }] },
            ],
          },
        ],
      },
    ],
  })
})

it('keeps the text of links and images that are not allowed, and markup as text', () => {
  const { content } = richTextOf('[x](/admin) ![y](https://example.com/y.png) <b>z</b>')
  expect(content).toEqual([
    paragraph(
      text('x'),
      text(' '),
      text('y', { type: 'link', attrs: { href: 'https://example.com/y.png' } }),
      text(' <b>z</b>'),
    ),
  ])
})

it('creates a valid document from any text', () => {
  const marks = [
    '*',
    '**',
    '~~',
    '`',
    '[',
    '](https://a.b)',
    '> ',
    '- ',
    '1. ',
    '\n',
    '|',
    '---',
    '# ',
    'a',
    '  ',
    '```',
  ]
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...marks), { maxLength: 8 }), (parts) => {
      expect(() => checkRichText(richTextOf(parts.join('')), 'description')).not.toThrow()
    }),
  )
})

it('leaves a table with very many cells as text', () => {
  const wide = `${'|a'.repeat(100)}\n${'|-'.repeat(100)}\n${'|\n'.repeat(100)}`
  expect(richTextOf(wide).content?.map(({ type }) => type)).toEqual(['paragraph'])
})
