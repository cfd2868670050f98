import { type RefObject, useLayoutEffect, useState } from 'react'

/** Returns an element's width whenever it changes, and `before` until it is known. */
export const useWidth = (element: RefObject<HTMLElement | null>, before = 0): number => {
  const [width, setWidth] = useState(before)
  useLayoutEffect(() => {
    if (!element.current) return
    setWidth(element.current.clientWidth)
    const observer = new ResizeObserver(([entry]) => entry && setWidth(Math.floor(entry.contentRect.width)))
    observer.observe(element.current)
    return () => observer.disconnect()
  }, [element])
  return width
}
