// Converts a documentation page to HTML, and to sections for the search.
import MarkdownIt, { type Token } from 'markdown-it'
import { pageNames } from './contents.ts'

export type Section = { page: string; title: string; anchor: string; heading: string; text: string }

export type GuidePage = { name: string; title: string; html: string; headings: Heading[]; sections: Section[] }

export type Heading = { level: number; text: string; anchor: string }

/** Returns an anchor in GitHub's format, so that links work in both places. */
const anchorOf = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-')

const plainText = (token: Token): string =>
  (token.children ?? [token]).map((child) => (child.type === 'softbreak' ? ' ' : child.content)).join('')

/**
 * Converts a link. Links between the guide's pages become URLs, and links to other files in the repository become text.
 */
const linkOf = (href: string): string | undefined => {
  if (/^(https?:|#|\/)/.test(href)) return href
  const [, name = '', anchor = ''] = /^(?:docs\/)?([\w-]+)\.md(#.*)?$/.exec(href) ?? []
  return pageNames.includes(name) ? `/docs/guide/${name}${anchor}` : undefined
}

const setLinks = (tokens: Token[], page: string): void => {
  for (const token of tokens) {
    const given = token.type === 'link_open' ? token.attrGet('href') : null
    const href = given === null ? null : String(given)
    if (token.children) setLinks(token.children, page)
    if (href === null) continue
    const link = linkOf(href)
    if (link) token.attrSet('href', link)
    else if (/^(\.\.\/|decisions)/.test(href)) token.attrs = []
    else throw new Error(`${page}: the link to ${href} does not exist`)
  }
}

export const readPage = (name: string, markdown: string): GuidePage => {
  const reader = new MarkdownIt({ html: false, linkify: false })
  const tokens = reader.parse(markdown, {})
  setLinks(tokens, name)
  const headings: Heading[] = []
  const sections: Section[] = []
  tokens.forEach((token, at) => {
    if (token.type === 'heading_open') {
      const heading = tokens[at + 1]
      const text = heading ? plainText(heading) : ''
      const anchor = anchorOf(text)
      token.attrSet('id', anchor)
      headings.push({ level: Number(token.tag.slice(1)), text, anchor })
      sections.push({ page: name, title: '', anchor, heading: text, text: '' })
    } else if (token.type === 'inline' || token.type === 'fence') {
      const section = sections.at(-1)
      if (section && tokens[at - 1]?.type !== 'heading_open') section.text += ` ${plainText(token)}`
    }
  })
  const title = headings[0]?.text ?? name
  const anchors = headings.map(({ anchor }) => anchor)
  const twice = anchors.find((anchor, at) => anchors.indexOf(anchor) !== at)
  if (twice) throw new Error(`${name}: two headings have the anchor #${twice}`)
  return {
    name,
    title,
    headings,
    html: reader.renderer.render(tokens, reader.options, {}),
    sections: sections.map((section) => ({ ...section, title })),
  }
}
