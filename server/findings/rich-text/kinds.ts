// The nodes and marks that TipTap's editor makes with its StarterKit, links, task lists and mentions.

import { linkFault } from './link.ts'

/** What is wrong with the value of an attribute. */
type Attribute = (value: unknown) => string | undefined

type Attributes = Record<string, Attribute>

const rule =
  (fits: (value: unknown) => boolean, message: string): Attribute =>
  (value) =>
    fits(value) ? undefined : message

const textOrNull = (longest: number): Attribute =>
  rule(
    (value) => value === null || (typeof value === 'string' && value.length <= longest),
    `must be null, or text of at most ${longest} characters`,
  )

const whole = (value: unknown, least: number, most: number): boolean =>
  Number.isInteger(value) && Number(value) >= least && Number(value) <= most

const mostItems = 1_000_000_000

type NodeKind = {
  /** What may stand in it. */
  content?: readonly string[]
  /** What its content begins with. */
  first?: string
  /** Nothing need stand in it. */
  mayBeEmpty?: true
  attributes?: Attributes
  /** Its text is bold and so on. */
  isMarked?: true
}

const inline = ['text', 'hardBreak', 'mention']
const blocks = [
  ...['paragraph', 'heading', 'bulletList', 'orderedList', 'taskList', 'blockquote', 'codeBlock'],
  'horizontalRule',
]

// Maps, since in an object every name of JavaScript's own (`constructor`) would be found.
export const nodeKinds = new Map<string, NodeKind>(
  Object.entries({
    doc: { content: blocks, mayBeEmpty: true },
    paragraph: { content: inline, mayBeEmpty: true },
    heading: {
      content: inline,
      mayBeEmpty: true,
      attributes: { level: rule((level) => whole(level, 1, 6), 'must be a whole number from 1 to 6') },
    },
    bulletList: { content: ['listItem'] },
    orderedList: {
      content: ['listItem'],
      attributes: {
        start: rule((at) => at === null || whole(at, -mostItems, mostItems), 'must be null or a whole number'),
        type: textOrNull(50),
      },
    },
    listItem: { content: blocks, first: 'paragraph' },
    taskList: { content: ['taskItem'] },
    taskItem: {
      content: blocks,
      first: 'paragraph',
      attributes: { checked: rule((checked) => typeof checked === 'boolean', 'must be true or false') },
    },
    blockquote: { content: blocks },
    codeBlock: { content: ['text'], mayBeEmpty: true, attributes: { language: textOrNull(100) } },
    horizontalRule: {},
    hardBreak: { isMarked: true },
    mention: {
      isMarked: true,
      attributes: { id: textOrNull(255), label: textOrNull(255), mentionSuggestionChar: textOrNull(10) },
    },
    text: { isMarked: true },
  } satisfies Record<string, NodeKind>),
)

type MarkKind = { attributes?: Attributes; required?: string }

export const markKinds = new Map<string, MarkKind>(
  Object.entries({
    ...{ bold: {}, italic: {}, strike: {}, underline: {}, code: {} },
    link: {
      required: 'href',
      attributes: {
        href: linkFault,
        target: rule(
          (target) => target === null || (typeof target === 'string' && /^_(?:blank|self|parent|top)$/.test(target)),
          'must be null, _blank, _self, _parent or _top',
        ),
        rel: (rel) =>
          textOrNull(255)(rel) ??
          (/(?:^|\s)opener(?:\s|$)/i.test(String(rel)) ? 'must not be opener: it hands the page over' : undefined),
        class: textOrNull(255),
        title: textOrNull(1_000),
      },
    },
  } satisfies Record<string, MarkKind>),
)
