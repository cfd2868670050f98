import type { RichNode, RichText } from './check.ts'

/** The maximum number of people that a document can notify. Further mentions are ignored. */
const mostMentioned = 50

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Returns the IDs of the users mentioned in a document, in order. The users may not exist. */
export const mentionedUserIds = (document: RichText): string[] => {
  const found = new Set<string>()
  const rest: RichNode[] = [...(document.content ?? [])].reverse()
  for (let node = rest.pop(); node && found.size < mostMentioned; node = rest.pop()) {
    const id = node.type === 'mention' ? String(node.attrs?.id).toLowerCase() : ''
    if (uuid.test(id)) found.add(id)
    for (const inside of [...(node.content ?? [])].reverse()) rest.push(inside)
  }
  return [...found]
}
