import { type ReactNode, useDeferredValue } from 'react'

/**
 * Renders its children after the rest of the page, in small steps between which the browser can paint and handle input.
 */
export const RenderLater = ({ children }: { children: ReactNode }) => useDeferredValue(true, false) && children
