import { Flag } from 'lucide-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import type { Schemas } from '../api/schema.d.ts'
import { useMay } from '../api/session.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { Key, useKeys } from '../ui/keys.tsx'
import { lazy } from '../ui/lazy.tsx'
import type { Quote } from './file-finding.tsx'
import { likeThis } from './search.ts'
import styles from './selection.module.css'
import type { Turn } from './timeline.ts'

const FileFinding = lazy(async () => (await import('./file-finding.tsx')).FileFinding)

type Selected = Quote & { top: number; left: number }

const longest = 2_000

/** Returns the selected words within an element, and the turn in which they start. */
const selectedIn = (element: HTMLElement, turns: Turn[]): Selected | undefined => {
  const selection = getSelection()
  const text = selection?.toString().trim() ?? ''
  if (!selection || selection.isCollapsed || text === '') return undefined
  const range = selection.getRangeAt(0)
  const start = range.startContainer instanceof Element ? range.startContainer : range.startContainer.parentElement
  const row = start?.closest<HTMLElement>('[data-said], [data-turn]')
  const turn = turns[Number(row?.dataset.said ?? row?.dataset.turn)]
  if (!element.contains(range.commonAncestorContainer) || !turn) return undefined
  const { bottom, left } = range.getBoundingClientRect()
  const around = element.getBoundingClientRect()
  return {
    text: text.slice(0, longest),
    turn,
    top: bottom - around.top + 6,
    left: Math.max(8, Math.min(left - around.left, around.width - 170)),
  }
}

/** Offers to find conversations like the turn selected inside, and to create a finding from the selected text. */
export const Selection = ({
  conversation,
  turns,
  children,
}: {
  conversation: Schemas['Conversation']
  turns: Turn[]
  children: ReactNode
}) => {
  const around = useRef<HTMLDivElement>(null)
  const [selected, setSelected] = useState<Selected>()
  const [quote, setQuote] = useState<Quote>()
  const mayFile = useMay('member')
  useEffect(() => {
    const read = () => setSelected(around.current ? selectedIn(around.current, turns) : undefined)
    document.addEventListener('selectionchange', read)
    return () => document.removeEventListener('selectionchange', read)
  }, [turns])
  useKeys(mayFile ? { q: { does: 'Create finding from selection', run: () => selected && setQuote(selected) } } : {})
  return (
    <div ref={around} className={styles.around}>
      {children}
      {selected && (
        // biome-ignore lint/a11y/noStaticElementInteractions: the handler only prevents a default action
        <div
          className={styles.offer}
          style={{ top: selected.top, left: selected.left }}
          // This keeps the text selected while the button is pressed.
          onMouseDown={(event) => event.preventDefault()}
        >
          {mayFile && (
            <Button small onClick={() => setQuote(selected)}>
              <Flag aria-hidden="true" /> Create finding <Key>q</Key>
            </Button>
          )}
          <ButtonLink
            small
            to="/conversations"
            search={likeThis({ conversationId: conversation.id, turn: selected.turn.index })}
          >
            More like this turn
          </ButtonLink>
        </div>
      )}
      {quote && <FileFinding conversation={conversation} quote={quote} onClose={() => setQuote(undefined)} />}
    </div>
  )
}
