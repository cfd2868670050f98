import { type ReactNode, useDeferredValue } from 'react'

/**
 * Draws what can wait after the page around it is on screen. React does it in small steps, between which the browser
 * paints and answers to the user.
 */
export const Later = ({ children }: { children: ReactNode }) => useDeferredValue(true, false) && children
