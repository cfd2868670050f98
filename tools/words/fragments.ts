// Finds the human-readable text in files: Markdown without code, and comments and strings in code.

import { parseSync } from 'oxc-parser'

/** A piece of text. Characters that aren't prose are spaces, so that positions are those of the source. */
export type Fragment = { start: number; text: string }

const blank = (text: string): string => text.replaceAll(/[^\n]/g, ' ')

/** Splits Markdown into paragraphs, headings, list items, and table rows. */
const markdownFragments = (source: string): Fragment[] => {
  const prose = source
    .replaceAll(/^( *)```[\s\S]*?^\1```/gm, blank)
    .replaceAll(/<!--[\s\S]*?-->/g, blank)
    .replaceAll(/`[^`]+`/g, blank)
    .replaceAll(/\]\([^)\s]+\)/g, blank)
  const breaks = /\n(?=\s*\n|\s*(?:[-*#>|]|\d+\.) ?)/g
  const starts = [0, ...[...prose.matchAll(breaks)].map(({ index }) => index + 1)]
  return starts.map((start, at) => ({ start, text: prose.slice(start, starts[at + 1]) }))
}

const styleFragments = (source: string): Fragment[] =>
  [...source.matchAll(/\/\*([\s\S]*?)\*\//g)].map(({ index, 1: text = '' }) => ({ start: index + 2, text }))

type Node = { type: string; start: number; end: number; value?: unknown }

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && 'start' in value

const isProse = ({ type, value }: Node): boolean =>
  type === 'JSXText' ||
  type === 'TemplateElement' ||
  (type === 'Literal' && typeof value === 'string' && /\s/.test(value))

const collect = (value: unknown, found: Node[]): void => {
  if (Array.isArray(value)) for (const item of value) collect(item, found)
  if (!isNode(value)) return
  if (isProse(value)) found.push(value)
  for (const child of Object.values(value)) if (typeof child === 'object') collect(child, found)
}

const codeFragments = (path: string, source: string): Fragment[] => {
  const { program, comments } = parseSync(path, source)
  const found: Node[] = []
  collect(program.body, found)
  const texts = found.map(({ start, end }) => ({ start, text: source.slice(start, end) }))
  const joined: Fragment[] = []
  for (const { type, start, end, value } of comments) {
    const text = `  ${type === 'Block' ? value.replaceAll(/\n\s*\*/g, blank) : value}`
    const last = joined.at(-1)
    const between = last && source.slice(last.start + last.text.length, start)
    // Consecutive line comments are one text.
    if (type === 'Line' && last && between?.trim() === '') last.text += blank(between) + text
    else joined.push({ start, text: text.slice(0, end - start) })
  }
  return [...texts, ...joined]
}

/** Returns the texts of a file, or none if its type isn't known. */
export const fragmentsOf = (path: string, source: string): Fragment[] => {
  if (path.endsWith('.md')) return markdownFragments(source)
  if (path.endsWith('.css')) return styleFragments(source)
  return /\.[jt]sx?$/.test(path) ? codeFragments(path, source) : []
}
