// Runs in the browser: search, and copy buttons for code blocks.
import MiniSearch from './minisearch.js'

const field = document.querySelector('input[type=search]')
const found = document.getElementById('found')

/** Loads the index on the first search. If loading fails, the next search tries again. */
let opened
const openIndex = () => {
  opened ??= fetch('/docs/guide/assets/search.json')
    .then((answer) => answer.json())
    .then(({ options, index }) => MiniSearch.loadJS(index, options))
    .catch(() => {
      opened = undefined
    })
  return opened
}

const sayInstead = (text) => {
  const item = document.createElement('li')
  item.textContent = text
  found.replaceChildren(item)
  found.hidden = false
}

const show = (results) => {
  if (results.length === 0) return sayInstead('Nothing in the guide has these words.')
  found.replaceChildren(
    ...results.slice(0, 8).map(({ page, title, anchor, heading }) => {
      const link = document.createElement('a')
      link.href = `/docs/guide/${page}#${anchor}`
      link.textContent = heading
      const where = document.createElement('small')
      where.textContent = title
      link.append(where)
      const item = document.createElement('li')
      item.append(link)
      return item
    }),
  )
  found.hidden = false
}

const search = async () => {
  const asked = field.value.trim()
  if (asked === '') {
    found.hidden = true
    return
  }
  const index = await openIndex()
  if (field.value.trim() !== asked) return
  if (index) show(index.search(asked))
  else sayInstead('The search could not be loaded. Try again.')
}

field.addEventListener('focus', openIndex, { once: true })
field.addEventListener('input', search)
const move = (step) => {
  const links = [...found.querySelectorAll('a')]
  const at = links.indexOf(document.activeElement)
  const next = at + step
  if (next < 0) field.focus()
  else links[Math.min(next, links.length - 1)]?.focus()
}
document.querySelector('search').addEventListener('keydown', (event) => {
  if (event.key === 'ArrowDown') move(1)
  else if (event.key === 'ArrowUp') move(-1)
  else if (event.key === 'Enter' && event.target === field) found.querySelector('a')?.click()
  else if (event.key === 'Escape') {
    found.hidden = true
    field.focus()
  } else return
  event.preventDefault()
})
document.addEventListener('keydown', (event) => {
  const typing = event.target instanceof HTMLInputElement
  if (event.key !== '/' || typing || event.ctrlKey || event.metaKey || event.altKey) return
  event.preventDefault()
  field.focus()
})
document.addEventListener('click', (event) => {
  if (!event.target.closest('search')) found.hidden = true
})

/** Copies a text. navigator.clipboard doesn't exist if the guide is served without TLS. */
const copy = async (text) => {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text)
  const hand = (event) => {
    event.clipboardData.setData('text/plain', text)
    event.preventDefault()
  }
  document.addEventListener('copy', hand)
  document.execCommand('copy')
  document.removeEventListener('copy', hand)
}

for (const block of document.querySelectorAll('pre')) {
  block.tabIndex = 0
  const button = document.createElement('button')
  button.type = 'button'
  button.textContent = 'Copy'
  button.addEventListener('click', async () => {
    await copy(block.querySelector('code').textContent)
    button.textContent = 'Copied'
    setTimeout(() => {
      button.textContent = 'Copy'
    }, 2_000)
  })
  const frame = document.createElement('div')
  frame.className = 'code'
  block.replaceWith(frame)
  frame.append(block, button)
}
