import { isObject } from '../platform/is-object.ts'
import { Unreadable } from './draft.ts'
import { textOf } from './json.ts'

const textOfPart = (part: unknown): string | null => {
  if (typeof part === 'string') return textOf(part)
  if (!isObject(part)) throw new Unreadable('a part of a message is neither a string nor an object')
  if (part.thought === true || part.type === 'reasoning' || part.type === 'thinking') return null
  return (
    textOf(part.text) ??
    textOf(part.transcript) ??
    textOf(part.refusal) ??
    (part.type === 'text' ? textOf(part.content) : null)
  )
}

/** Returns the text of a message, which is a string or a list of parts. Images, audio, and reasoning have no text. */
export const textOfContent = (content: unknown): string | null => {
  if (content === null || content === undefined) return null
  if (typeof content === 'string') return textOf(content)
  if (!Array.isArray(content))
    throw new Unreadable('the content of a message is neither a string nor an array of parts')
  const texts = content.map(textOfPart).filter((text) => text !== null)
  return texts.length > 0 ? texts.join('\n') : null
}
