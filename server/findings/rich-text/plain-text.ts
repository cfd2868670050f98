import type { RichNode, RichText } from './check.ts'

const lineEnds = new Set(['paragraph', 'heading', 'codeBlock', 'hardBreak'])

/** What a document says, a line for each paragraph. */
export const plainText = (document: RichText): string => {
  let text = ''
  const parts: (RichNode | '\n')[] = [...(document.content ?? [])].reverse()
  for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
    if (part === '\n') {
      text += part
      continue
    }
    if (part.type === 'text') text += part.text
    if (part.type === 'mention') text += `@${part.attrs?.label ?? part.attrs?.id ?? ''}`
    if (lineEnds.has(part.type)) parts.push('\n')
    for (const inside of [...(part.content ?? [])].reverse()) parts.push(inside)
  }
  return text.trim()
}
