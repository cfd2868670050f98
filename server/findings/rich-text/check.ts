// Rich text: what a TipTap document of a description or a comment may hold. A loop and a stack of one's own, so that
// no document is too deep for it.

import { type Issue, invalidAll } from '../../platform/errors.ts'
import { markKinds, nodeKinds } from './kinds.ts'

export type RichText = { type: 'doc'; content?: RichNode[] }
export type RichNode = { type: string; text?: string; attrs?: Record<string, unknown>; content?: RichNode[] }

const deepest = 20
const mostNodes = 10_000
const mostBytes = 256 * 1_024
/** Whoever sends more wrong than this is told of the first ones. */
const mostIssues = 20

type Part = Record<string, unknown>

const isObject = (value: unknown): value is Part => typeof value === 'object' && value !== null && !Array.isArray(value)

/** What the sender wrote, shortened. Other than text could be an object that is none. */
const quoted = (type: unknown): string => (typeof type === 'string' ? `“${type.slice(0, 50)}”` : 'this')

type Tell = (path: string, message: string) => void

const checkNames = (part: Part, known: readonly string[], path: string, tell: Tell): void => {
  for (const name of Object.keys(part)) {
    if (!known.includes(name)) tell(`${path}.${name.slice(0, 50)}`, 'is not known in rich text')
  }
}

type Kind = { attributes?: Record<string, (value: unknown) => string | undefined>; required?: string }

const checkAttributes = (part: Part, { attributes = {}, required }: Kind, path: string, tell: Tell): void => {
  const given = part.attrs ?? {}
  if (!isObject(given)) {
    tell(path, 'must be an object')
    return
  }
  checkNames(given, Object.keys(attributes), path, tell)
  for (const [name, faultOf] of Object.entries(attributes)) {
    const fault = Object.hasOwn(given, name) || name === required ? faultOf(given[name]) : undefined
    if (fault) tell(`${path}.${name}`, fault)
  }
}

const checkMark = (mark: unknown, path: string, tell: Tell): void => {
  const kind = isObject(mark) && typeof mark.type === 'string' ? markKinds.get(mark.type) : undefined
  if (isObject(mark) && kind) {
    checkNames(mark, ['type', 'attrs'], path, tell)
    checkAttributes(mark, kind, `${path}.attrs`, tell)
  } else tell(`${path}.type`, `must be one of ${[...markKinds.keys()].join(', ')}`)
}

/** There being more than there are kinds, they need not be looked at. */
const isRepeated = (marks: unknown[]): boolean =>
  marks.length > markKinds.size || new Set(marks.map((mark) => (isObject(mark) ? mark.type : mark))).size < marks.length

const checkMarks = (marks: unknown, mayHave: boolean, path: string, tell: Tell): void => {
  if (!Array.isArray(marks)) tell(path, 'must be an array')
  else if (marks.length > 0 && !mayHave) tell(path, 'must not be here')
  else if (isRepeated(marks)) tell(path, 'must hold each mark once')
  else for (const [index, mark] of marks.entries()) checkMark(mark, `${path}[${index}]`, tell)
}

const checkText = (text: unknown, isText: boolean, path: string, tell: Tell): void => {
  if (isText && (typeof text !== 'string' || text === '')) tell(path, 'must be text that is not empty')
  if (!isText && text !== undefined) tell(path, 'must not be here')
}

type Place = { node: unknown; path: string; depth: number; allowed: readonly string[]; isMarked: boolean }

/** Tells what is wrong with a node itself, and gives what stands in it. */
const checkNode = ({ node, path, depth, allowed, isMarked }: Place, tell: Tell): Place[] => {
  if (!isObject(node)) {
    tell(path, 'must be an object')
    return []
  }
  const { type, content = [] } = node
  const kind = typeof type === 'string' ? nodeKinds.get(type) : undefined
  if (typeof type !== 'string' || !kind || !allowed.includes(type)) {
    tell(`${path}.type`, `${quoted(type)} cannot be here; one of ${allowed.join(', ')} can`)
    return []
  }
  checkNames(node, ['type', 'attrs', 'content', 'marks', 'text'], path, tell)
  checkAttributes(node, kind, `${path}.attrs`, tell)
  checkText(node.text, type === 'text', `${path}.text`, tell)
  if (node.marks !== undefined) checkMarks(node.marks, isMarked && kind.isMarked === true, `${path}.marks`, tell)
  if (!Array.isArray(content)) {
    tell(`${path}.content`, 'must be an array')
    return []
  }
  if (!kind.content) {
    if (content.length > 0) tell(`${path}.content`, 'must not be here')
    return []
  }
  if (content.length === 0 && !kind.mayBeEmpty) tell(`${path}.content`, 'must not be empty')
  if (content.length > 0 && depth === deepest) {
    tell(`${path}.content`, `must not be here: at most ${deepest} levels`)
    return []
  }
  const inside = kind.content
  return content.map((child, index) => ({
    node: child,
    path: `${path}.content[${index}]`,
    depth: depth + 1,
    allowed: index === 0 && kind.first ? [kind.first] : inside,
    isMarked: type !== 'codeBlock',
  }))
}

/** The document, if there is nothing wrong with it: 400 with each fault and where it is. */
export const checkRichText = (value: unknown, path: string): RichText => {
  const issues: Issue[] = []
  const tell: Tell = (at, message) => {
    if (issues.length < mostIssues) issues.push({ path: at, message })
  }
  const places: Place[] = [{ node: value, path, depth: 1, allowed: ['doc'], isMarked: false }]
  let nodes = 1
  for (let place = places.pop(); place && issues.length < mostIssues; place = places.pop()) {
    const { content } = isObject(place.node) ? place.node : {}
    nodes += Array.isArray(content) ? content.length : 0
    if (nodes > mostNodes) throw invalidAll([{ path, message: `must be of at most ${mostNodes} nodes` }])
    for (const inside of checkNode(place, tell).reverse()) places.push(inside)
  }
  if (issues.length > 0) throw invalidAll(issues)
  if (Buffer.byteLength(JSON.stringify(value)) > mostBytes) {
    throw invalidAll([{ path, message: `must be of at most ${mostBytes} bytes` }])
  }
  // Every part of it was just looked at.
  return value as RichText
}
