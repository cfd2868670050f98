import type { contents as Contents } from './contents.ts'
import type { GuidePage } from './read.ts'

const encode = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

const listOf = (pages: GuidePage[], contents: typeof Contents, current: string): string =>
  contents
    .map(({ title, pages: names }) => {
      const links = names.map((name) => {
        const page = pages.find((one) => one.name === name)
        const mark = name === current ? ' aria-current="page"' : ''
        return `<li><a href="/docs/guide/${name}"${mark}>${encode(page?.title ?? name)}</a></li>`
      })
      return `<p>${encode(title)}</p><ul>${links.join('')}</ul>`
    })
    .join('')

const outlineOf = ({ headings }: GuidePage): string => {
  const second = headings.filter(({ level }) => level === 2)
  if (second.length < 2) return ''
  const links = second.map(({ text, anchor }) => `<li><a href="#${anchor}">${encode(text)}</a></li>`)
  return `<aside class="side" aria-label="On this page"><p>On this page</p><ul>${links.join('')}</ul></aside>`
}

const neighboursOf = (pages: GuidePage[], at: number): string => {
  const link = (page: GuidePage | undefined, rel: string, word: string) =>
    page
      ? `<a rel="${rel}" href="/docs/guide/${page.name}"><small>${word}</small>${encode(page.title)}</a>`
      : '<span></span>'
  return `<nav class="neighbours" aria-label="Previous and next">${link(pages[at - 1], 'prev', 'Previous')}${link(pages[at + 1], 'next', 'Next')}</nav>`
}

/**
 * Returns a page. Nothing in it is inline, so that the content security policy can forbid inline scripts and styles.
 */
export const pageOf = (pages: GuidePage[], at: number, contents: typeof Contents): string => {
  const page = pages[at]
  if (!page) throw new Error('no such page')
  return `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>${encode(page.title)} · Earshot</title>
  <link rel="icon" href="/console/icon.svg">
  <link rel="stylesheet" href="/docs/guide/assets/tokens.css">
  <link rel="stylesheet" href="/docs/guide/assets/guide.css">
  <script type="module" src="/docs/guide/assets/guide.js"></script>
</head>
<body>
  <a class="skip" href="#main">Skip to content</a>
  <header>
    <a class="home" href="/docs/guide/start">Earshot <span>Guide</span></a>
    <search><input type="search" placeholder="Search the guide" aria-label="Search the guide" aria-controls="found" autocomplete="off" spellcheck="false"><kbd>/</kbd><ol id="found" class="found" hidden></ol></search>
    <nav aria-label="Site"><a href="/docs">API reference</a><a href="/">Console</a></nav>
  </header>
  <details class="contents side"><summary>Contents</summary><nav aria-label="Guide">${listOf(pages, contents, page.name)}</nav></details>
  <nav class="contents side" aria-label="Guide">${listOf(pages, contents, page.name)}</nav>
  <main id="main">${page.html}${neighboursOf(pages, at)}</main>
  ${outlineOf(page)}
</body>
</html>
`
}
