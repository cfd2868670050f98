// Defines the attributes of the nodes and marks in TipTap's StarterKit. Attributes of other extensions are only checked
// for safety.

import { linkFault } from './link.ts'

/** Returns the error in an attribute's value, or undefined if the value is valid. */
export type Attribute = (value: unknown) => string | undefined

type Attributes = Record<string, Attribute>

const rule =
  (fits: (value: unknown) => boolean, message: string): Attribute =>
  (value) =>
    fits(value) ? undefined : message

const textOrNull = (longest: number): Attribute =>
  rule(
    (value) => value === null || (typeof value === 'string' && value.length <= longest),
    `must be null or a string of at most ${longest} characters`,
  )

const whole = (value: unknown, least: number, most: number): boolean =>
  Number.isInteger(value) && Number(value) >= least && Number(value) <= most

const mostItems = 1_000_000_000

/** The attributes of a kind, and the required one. */
export type NodeKind = { attributes?: Attributes; required?: string }

// This is a Map, because an object would also have JavaScript's own names, such as `constructor`.
export const nodeKinds = new Map<string, NodeKind>(
  Object.entries({
    heading: { attributes: { level: rule((level) => whole(level, 1, 6), 'must be a whole number from 1 to 6') } },
    orderedList: {
      attributes: {
        start: rule((at) => at === null || whole(at, -mostItems, mostItems), 'must be null or a whole number'),
        type: textOrNull(50),
      },
    },
    taskItem: {
      attributes: { checked: rule((checked) => typeof checked === 'boolean', 'must be true or false') },
    },
    codeBlock: { attributes: { language: textOrNull(100) } },
    mention: { attributes: { id: textOrNull(255), label: textOrNull(255), mentionSuggestionChar: textOrNull(10) } },
  } satisfies Record<string, NodeKind>),
)

export const markKinds = new Map<string, NodeKind>(
  Object.entries({
    link: {
      required: 'href',
      attributes: {
        href: linkFault,
        target: rule(
          (target) => target === null || (typeof target === 'string' && /^_(?:blank|self|parent|top)$/.test(target)),
          'must be null, _blank, _self, _parent, or _top',
        ),
        rel: (rel) =>
          textOrNull(255)(rel) ??
          (/(?:^|\s)opener(?:\s|$)/i.test(String(rel))
            ? 'must not be opener, because it gives the linked page access to this one'
            : undefined),
        class: textOrNull(255),
        title: textOrNull(1_000),
      },
    },
  } satisfies Record<string, NodeKind>),
)
