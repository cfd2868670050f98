import type { RichNode, RichText } from './check.ts'

const lineEnds = new Set(['paragraph', 'heading', 'codeBlock', 'hardBreak'])

/** Of an extension that is not known here, such as a cell with text right in it. */
const isLine = ({ type, content = [] }: RichNode): boolean =>
  lineEnds.has(type) || content.some((inside) => inside.type === 'text')

/** What a document says, a line for each paragraph. */
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

/** The text of a node without that of the nodes inside. */
const ownText = ({ type, text, attrs }: RichNode): string => {
  if (type === 'text') return text ?? ''
  const mention = type === 'mention' ? `@${attrs?.label ?? attrs?.id ?? ''}` : ''
  return typeof attrs?.alt === 'string' ? mention + attrs.alt : mention
}
