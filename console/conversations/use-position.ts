import { useCallback, useEffect, useRef, useState } from 'react'

/** A position in a conversation: seconds of the recording, and the marked turn. */
export type Position = { at?: number; turn?: number }

const settled = 200

const isSame = (a: Position, b: Position) => a.at === b.at && a.turn === b.turn

/**
 * Returns the position. Writes it to the URL when it stops changing, because browsers limit how often the URL can
 * change.
 */
export const usePosition = (position: Position, onPosition: (position: Position) => void) => {
  const [shown, setShown] = useState(position)
  /** The position after the URL was changed in another way, such as by the back button or a link. */
  const [led, setLed] = useState<Position>()
  const now = useRef(position)
  const reported = useRef(position)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const latest = useRef(onPosition)
  useEffect(() => {
    latest.current = onPosition
  })
  const { at, turn } = position
  useEffect(() => {
    const given = { ...(at !== undefined && { at }), ...(turn !== undefined && { turn }) }
    if (isSame(given, reported.current)) return
    reported.current = given
    now.current = given
    setShown(given)
    setLed(given)
  }, [at, turn])
  useEffect(() => () => clearTimeout(timer.current), [])
  const move = useCallback((change: (before: Position) => Position) => {
    const next = change(now.current)
    now.current = next
    setShown(next)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => {
      if (isSame(next, reported.current)) return
      reported.current = next
      latest.current(next)
    }, settled)
  }, [])
  return { shown, led, move }
}
