import { useCallback, useEffect, useRef, useState } from 'react'

/** A position in a conversation: seconds of the recording, and the marked turn. */
export type Place = { at?: number; turn?: number }

const settled = 200

const isSame = (a: Place, b: Place) => a.at === b.at && a.turn === b.turn

/** The position, written to the URL when it stops changing, because browsers limit URL changes per second. */
export const usePlace = (place: Place, onPlace: (place: Place) => void) => {
  const [shown, setShown] = useState(place)
  /** The URL changed from outside: the back button or a link. */
  const [led, setLed] = useState<Place>()
  const now = useRef(place)
  const told = useRef(place)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const latest = useRef(onPlace)
  useEffect(() => {
    latest.current = onPlace
  })
  const { at, turn } = place
  useEffect(() => {
    const given = { ...(at !== undefined && { at }), ...(turn !== undefined && { turn }) }
    if (isSame(given, told.current)) return
    told.current = given
    now.current = given
    setShown(given)
    setLed(given)
  }, [at, turn])
  useEffect(() => () => clearTimeout(timer.current), [])
  const move = useCallback((change: (before: Place) => Place) => {
    const next = change(now.current)
    now.current = next
    setShown(next)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => {
      if (isSame(next, told.current)) return
      told.current = next
      latest.current(next)
    }, settled)
  }, [])
  return { shown, led, move }
}
