import type { RichNode, RichText } from './check.ts'

const lineEnds = new Set(['paragraph', 'heading', 'codeBlock', 'hardBreak'])

/** Returns whether a node ends a line. A node from an unknown extension does if it contains text directly. */
const isLine = ({ type, content = [] }: RichNode): boolean =>
  lineEnds.has(type) || content.some((inside) => inside.type === 'text')

/** Returns the text of a document, with a line for each paragraph. */
export const plainText = (document: RichText): string => {
  let text = ''
  const parts: (RichNode | '\n')[] = [...(document.content ?? [])].reverse()
  for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
    if (part === '\n') {
      text += part
      continue
    }
    text += ownText(part)
    if (isLine(part)) parts.push('\n')
    for (const inside of [...(part.content ?? [])].reverse()) parts.push(inside)
  }
  return text.trim()
}

/** Returns the text of a node itself, without the text of its children. */
const ownText = ({ type, text, attrs }: RichNode): string => {
  if (type === 'text') return text ?? ''
  const mention = type === 'mention' ? `@${attrs?.label ?? attrs?.id ?? ''}` : ''
  return typeof attrs?.alt === 'string' ? mention + attrs.alt : mention
}
