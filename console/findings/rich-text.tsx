// Renders stored rich text with React. It is never parsed as HTML.

import { createElement, Fragment, type ReactNode } from 'react'
import { lazy } from '../ui/lazy.tsx'
import { Loading } from '../ui/states.tsx'
import styles from './rich-text.module.css'

/** A TipTap document. */
export type Document = Record<string, unknown>

export type Node = { type?: unknown; text?: unknown; attrs?: Record<string, unknown>; content?: Node[]; marks?: Node[] }

const isLink = (href: unknown): href is string => typeof href === 'string' && /^(https?:|mailto:)/i.test(href.trim())

const marked = (text: ReactNode, { type, attrs }: Node): ReactNode => {
  switch (type) {
    case 'bold':
      return <strong>{text}</strong>
    case 'italic':
      return <em>{text}</em>
    case 'strike':
      return <s>{text}</s>
    case 'underline':
      return <u>{text}</u>
    case 'code':
      return <code>{text}</code>
    case 'highlight':
      return <mark>{text}</mark>
    case 'subscript':
      return <sub>{text}</sub>
    case 'superscript':
      return <sup>{text}</sup>
    case 'link':
      return isLink(attrs?.href) ? (
        <a href={attrs.href} target="_blank" rel="noopener noreferrer nofollow">
          {text}
        </a>
      ) : (
        text
      )
    default:
      return text
  }
}

const tags = new Map([
  ['paragraph', 'p'],
  ['bulletList', 'ul'],
  ['listItem', 'li'],
  ['blockquote', 'blockquote'],
  ['tableRow', 'tr'],
])

/** Shows the name and content of a node from an unknown extension. */
const Unknown = ({ name, href, children }: { name: string; href?: unknown; children?: ReactNode }) => (
  <figure className={styles.unknown}>
    <figcaption className={styles.kind}>
      {isLink(href) ? marked(name, { type: 'link', attrs: { href } }) : name}
    </figcaption>
    {children}
  </figure>
)

const spanOf = (span: unknown): number => (Number.isInteger(span) && Number(span) > 0 ? Number(span) : 1)

const draw = (node: Node, key: number): ReactNode => {
  const { type, text, attrs, content = [], marks = [] } = node
  const inside = content.map(draw)
  const tag = tags.get(String(type))
  if (tag) return createElement(tag, { key }, ...inside)
  switch (type) {
    case 'text':
      return <Fragment key={key}>{marks.reduce<ReactNode>(marked, String(text))}</Fragment>
    case 'heading':
      // The page itself uses the higher levels of headings.
      return createElement(`h${Math.min(6, 3 + Number(attrs?.level ?? 1))}`, { key }, ...inside)
    case 'orderedList':
      return (
        <ol key={key} start={Number(attrs?.start ?? 1)}>
          {inside}
        </ol>
      )
    case 'taskList':
      return (
        <ul key={key} className={styles.tasks}>
          {inside}
        </ul>
      )
    case 'taskItem':
      return (
        <li key={key}>
          <input type="checkbox" checked={attrs?.checked === true} disabled aria-label="Done" />
          <div>{inside}</div>
        </li>
      )
    case 'codeBlock':
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
        <pre key={key} tabIndex={0}>
          <code>{inside}</code>
        </pre>
      )
    case 'horizontalRule':
      return <hr key={key} />
    case 'hardBreak':
      return <br key={key} />
    case 'mention':
      return (
        <span key={key} className={styles.mention}>
          {`${attrs?.mentionSuggestionChar ?? '@'}${attrs?.label ?? attrs?.id ?? ''}`}
        </span>
      )
    case 'table':
      return (
        <table key={key} className={styles.table}>
          <tbody>{inside}</tbody>
        </table>
      )
    case 'tableHeader':
    case 'tableCell':
      return createElement(
        type === 'tableCell' ? 'td' : 'th',
        { key, colSpan: spanOf(attrs?.colspan), rowSpan: spanOf(attrs?.rowspan) },
        ...inside,
      )
    case 'image':
      // Viewing a finding must not load anything from other hosts.
      return <Unknown key={key} name={`Image: ${attrs?.alt || attrs?.title || 'no description'}`} href={attrs?.src} />
    default:
      return (
        <Unknown key={key} name={String(type)} href={attrs?.src ?? attrs?.href}>
          {inside}
        </Unknown>
      )
  }
}

export const RichText = ({ document }: { document: Document }) => (
  // The API has validated the structure before storing it.
  <div className={styles.text}>{((document as Node).content ?? []).map(draw)}</div>
)

export type EditorProps = {
  label: string
  /** The ID of the visible label. */
  id?: string
  value: Document | null
  /** Called with null if the text is empty. */
  onChange: (value: Document | null) => void
  /** Called when ⌘ or Ctrl is pressed with Enter. */
  onSend?: () => void
  focus?: boolean
  /** Offers members after an @. */
  mentions?: boolean
}

/** The rich text editor. Its code loads when it is first needed. */
export const RichTextField = lazy<EditorProps>(
  async () => (await import('./editor.tsx')).default,
  <Loading label="Loading editor" lines={2} />,
)
