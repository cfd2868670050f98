// Converts Markdown to a TipTap document with the nodes of the StarterKit and tables.
import MarkdownIt, { type Token } from 'markdown-it'
import { linkFault } from './link.ts'

type Mark = { type: string; attrs?: Record<string, unknown> }
type Node = { type: string; text?: string; attrs?: Record<string, unknown>; marks?: Mark[]; content?: Node[] }

const options = { html: false, linkify: false }
const [reader, readerWithoutTables] = [new MarkdownIt(options), new MarkdownIt(options).disable('table')]

/**
 * The maximum number of table cells in a document. It is limited because even a row with one character gets as many
 * cells as its table is wide.
 */
const mostCells = 5_000

const readerFor = (markdown: string) => {
  const lines = markdown.split('\n')
  const widest = lines.reduce((most, line) => Math.max(most, line.split('|').length), 0)
  return lines.length * widest <= mostCells ? reader : readerWithoutTables
}

/** The nodes with children, by the name of their token. */
const containers: Record<string, string> = {
  paragraph: 'paragraph',
  heading: 'heading',
  bullet_list: 'bulletList',
  ordered_list: 'orderedList',
  list_item: 'listItem',
  blockquote: 'blockquote',
  table: 'table',
  tr: 'tableRow',
  th: 'tableHeader',
  td: 'tableCell',
}

const markNames: Record<string, string> = { strong: 'bold', em: 'italic', s: 'strike', link: 'link' }

const attributesOf = (token: Token): Pick<Node, 'attrs'> => {
  if (token.type === 'heading_open') return { attrs: { level: Number(token.tag.slice(1)) } }
  const start = token.type === 'ordered_list_open' ? token.attrGet('start') : null
  return start === null ? {} : { attrs: { start: Number(start) } }
}

const linkMark = (href: unknown): Mark | undefined =>
  linkFault(href) === undefined ? { type: 'link', attrs: { href } } : undefined

const markOf = (token: Token): Mark | undefined => {
  const type = markNames[token.type.replace('_open', '')]
  if (type === 'link') return linkMark(token.attrGet('href'))
  return type === undefined ? undefined : { type }
}

const textNode = (text: string, marks: Mark[]): Node[] => {
  if (text === '') return []
  const unique = marks.filter(({ type }, at) => marks.findIndex((mark) => mark.type === type) === at)
  return [{ type: 'text', text, ...(unique.length > 0 && { marks: unique }) }]
}

const inlineNode = (token: Token, marks: Mark[]): Node[] => {
  if (token.type === 'hardbreak') return [{ type: 'hardBreak' }]
  if (token.type === 'softbreak') return textNode(' ', marks)
  if (token.type === 'code_inline') return textNode(token.content, [{ type: 'code' }])
  // An image becomes a link to it, because opening a finding must not load anything.
  const link = token.type === 'image' ? linkMark(token.attrGet('src')) : undefined
  return textNode(token.content, link ? [...marks, link] : marks)
}

const inlineNodes = (tokens: Token[]): Node[] => {
  const nodes: Node[] = []
  // This stack also contains links that are not allowed, until they are closed.
  const open: (Mark | undefined)[] = []
  for (const token of tokens) {
    if (token.nesting === 1) open.push(markOf(token))
    else if (token.nesting === -1) open.pop()
    else
      nodes.push(
        ...inlineNode(
          token,
          open.filter((mark) => mark !== undefined),
        ),
      )
  }
  return nodes
}

const leafOf = (token: Token): Node[] => {
  if (token.type === 'hr') return [{ type: 'horizontalRule' }]
  if (token.type === 'inline') return inlineNodes(token.children ?? [])
  if (token.type !== 'fence' && token.type !== 'code_block') return []
  const language = token.info.trim().split(/\s/, 1)[0]?.slice(0, 100)
  const content = textNode(token.content.replace(/\n$/, ''), [])
  return [{ type: 'codeBlock', ...(language && { attrs: { language } }), ...(content.length > 0 && { content }) }]
}

/** Completes a node: cells contain blocks, and list items start with a paragraph. */
const closed = (node: Node): Node => {
  const content = node.content ?? []
  if (node.type === 'tableCell' || node.type === 'tableHeader') return { ...node, content: [paragraphOf(content)] }
  if (node.type === 'listItem' && content[0]?.type !== 'paragraph') {
    return { ...node, content: [{ type: 'paragraph' }, ...content] }
  }
  return content.length > 0 ? node : { type: node.type, ...(node.attrs && { attrs: node.attrs }) }
}

const paragraphOf = (content: Node[]): Node => ({ type: 'paragraph', ...(content.length > 0 && { content }) })

export const richTextOf = (markdown: string): Node => {
  const document = { type: 'doc', content: [] as Node[] }
  const open: (Node & { content: Node[] })[] = [document]
  for (const token of readerFor(markdown).parse(markdown, {})) {
    const type = containers[token.type.replace(/_(open|close)$/, '')]
    const inside = open.at(-1) ?? document
    if (token.nesting === 0) inside.content.push(...leafOf(token))
    else if (type !== undefined && token.nesting === 1) open.push({ type, ...attributesOf(token), content: [] })
    else if (type !== undefined) {
      open.pop()
      ;(open.at(-1) ?? document).content.push(closed(inside))
    }
  }
  return document.content.length > 0 ? document : { type: 'doc', content: [{ type: 'paragraph' }] }
}
