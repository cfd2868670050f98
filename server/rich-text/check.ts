// Validates rich text: the TipTap documents in descriptions and comments. Uses a loop with its own stack, so that a
// deep document does not overflow the call stack.

import { type Issue, invalidAll } from '../platform/errors.ts'
import { isObject } from '../platform/is-object.ts'
import { markKinds, type NodeKind, nodeKinds } from './kinds.ts'

export type RichText = { type: 'doc'; content?: RichNode[] }
export type RichNode = { type: string; text?: string; attrs?: Record<string, unknown>; content?: RichNode[] }

const deepest = 20
const mostNodes = 10_000
const mostMarks = 20
const mostBytes = 256 * 1_024
/** The maximum number of errors to report. */
const mostIssues = 20
const deepestValue = 5

type RawNode = Record<string, unknown>

type Tell = (path: string, message: string) => void

const checkNames = (part: RawNode, known: readonly string[], path: string, tell: Tell): void => {
  for (const name of Object.keys(part)) {
    if (!known.includes(name)) tell(`${path}.${name.slice(0, 50)}`, 'is not supported in rich text')
  }
}

/** Returns whether a value can be the name of a node, mark, or attribute in any extension. */
const isName = (name: unknown): name is string => typeof name === 'string' && /^[A-Za-z][\w-]{0,49}$/.test(name)

/** Returns whether an attribute with this name would run code if a page rendered it as markup. */
const isActive = (name: string): boolean => /^(?:on|style$|srcdoc$)/i.test(name)

// Browsers remove invisible characters from URLs.
const unseen = /[\s\p{C}\p{Z}]/gu
const runs = /^(?:javascript|vbscript|file|blob|data(?!:image\/(?:png|jpe?g|gif|webp)[;,])):/i

const valueFault = (value: unknown, depth = 1): string | undefined => {
  if (typeof value === 'string') {
    return runs.test(value.replace(unseen, '')) ? 'must not be a URL with this protocol' : undefined
  }
  if (typeof value !== 'object' || value === null) return undefined
  if (depth > deepestValue) return `must have at most ${deepestValue} levels`
  for (const inside of Object.values(value)) {
    const fault = valueFault(inside, depth + 1)
    if (fault) return fault
  }
  return undefined
}

const attributeFault = (name: string, value: unknown, { attributes = {} }: NodeKind): string | undefined => {
  if (!isName(name) || isActive(name)) return 'is not allowed in rich text'
  const known = Object.hasOwn(attributes, name) ? attributes[name] : undefined
  return known ? known(value) : valueFault(value)
}

const checkAttributes = (part: RawNode, kind: NodeKind, path: string, tell: Tell): void => {
  const given = part.attrs ?? {}
  if (!isObject(given)) {
    tell(path, 'must be an object')
    return
  }
  const { required } = kind
  if (required !== undefined && !Object.hasOwn(given, required)) tell(`${path}.${required}`, 'is required')
  for (const [name, value] of Object.entries(given)) {
    const fault = attributeFault(name, value, kind)
    if (fault) tell(`${path}.${name.slice(0, 50)}`, fault)
  }
}

const checkMark = (mark: unknown, path: string, tell: Tell): void => {
  if (!isObject(mark) || !isName(mark.type)) {
    tell(`${path}.type`, 'must be the name of a mark')
    return
  }
  checkNames(mark, ['type', 'attrs'], path, tell)
  checkAttributes(mark, markKinds.get(mark.type) ?? {}, `${path}.attrs`, tell)
}

const isRepeated = (marks: unknown[]): boolean =>
  new Set(marks.map((mark) => (isObject(mark) ? mark.type : mark))).size < marks.length

const checkMarks = (marks: unknown, path: string, tell: Tell): void => {
  if (!Array.isArray(marks)) tell(path, 'must be an array')
  else if (marks.length > mostMarks) tell(path, `must have at most ${mostMarks} marks`)
  else if (isRepeated(marks)) tell(path, 'must not repeat marks')
  else for (const [index, mark] of marks.entries()) checkMark(mark, `${path}[${index}]`, tell)
}

const checkText = (text: unknown, isText: boolean, path: string, tell: Tell): void => {
  if (isText && (typeof text !== 'string' || text === '')) tell(path, 'must be a non-empty string')
  if (!isText && text !== undefined) tell(path, 'is not allowed here')
}

type NodePosition = { node: unknown; path: string; depth: number }

/** Checks a node without its children, and returns the children. */
const checkNode = ({ node, path, depth }: NodePosition, tell: Tell): NodePosition[] => {
  if (!isObject(node)) {
    tell(path, 'must be an object')
    return []
  }
  const { type, content = [] } = node
  if (!isName(type) || (type === 'doc') !== (depth === 1)) {
    tell(
      `${path}.type`,
      depth === 1 ? 'must be doc' : 'must be the name of a node; doc is only allowed at the top level',
    )
    return []
  }
  checkNames(node, ['type', 'attrs', 'content', 'marks', 'text'], path, tell)
  checkAttributes(node, nodeKinds.get(type) ?? {}, `${path}.attrs`, tell)
  checkText(node.text, type === 'text', `${path}.text`, tell)
  if (node.marks !== undefined) checkMarks(node.marks, `${path}.marks`, tell)
  if (!Array.isArray(content)) {
    tell(`${path}.content`, 'must be an array')
    return []
  }
  if (content.length > 0 && type === 'text') {
    tell(`${path}.content`, 'is not allowed here')
    return []
  }
  if (content.length > 0 && depth === deepest) {
    tell(`${path}.content`, `is nested too deeply: at most ${deepest} levels`)
    return []
  }
  return content.map((child, index) => ({ node: child, path: `${path}.content[${index}]`, depth: depth + 1 }))
}

/** Returns the document if it is valid. Otherwise, throws a 400 that lists each error with its path. */
export const checkRichText = (value: unknown, path: string): RichText => {
  const issues: Issue[] = []
  const tell: Tell = (at, message) => {
    if (issues.length < mostIssues) issues.push({ path: at, message })
  }
  const places: NodePosition[] = [{ node: value, path, depth: 1 }]
  let nodes = 1
  for (let place = places.pop(); place && issues.length < mostIssues; place = places.pop()) {
    const { content } = isObject(place.node) ? place.node : {}
    nodes += Array.isArray(content) ? content.length : 0
    if (nodes > mostNodes) throw invalidAll([{ path, message: `must have at most ${mostNodes} nodes` }])
    for (const inside of checkNode(place, tell).reverse()) places.push(inside)
  }
  if (issues.length > 0) throw invalidAll(issues)
  if (Buffer.byteLength(JSON.stringify(value)) > mostBytes) {
    throw invalidAll([{ path, message: `must have at most ${mostBytes} bytes` }])
  }
  // Every part of it was checked above.
  return value as RichText
}
