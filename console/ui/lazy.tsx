import { type FunctionComponent, type ReactNode, Suspense, useEffect, useState } from 'react'
import { lazyCode, reportMissingCode } from '../lib/lazy-code.ts'
import { MissingCode } from './missing-code.tsx'

/**
 * Returns a component that loads its code on its first render. If loading fails, the error appears in its place if it
 * has a fallback, and otherwise in the corner of the window.
 */
export const lazy = <Props extends object>(
  load: () => Promise<FunctionComponent<Props>>,
  fallback?: ReactNode,
): FunctionComponent<Props> => {
  const code = lazyCode(load)
  return (props) => {
    const [Loaded, setLoaded] = useState(() => code.loaded)
    const [isMissing, setIsMissing] = useState(false)
    useEffect(() => {
      code.load().then(
        (component) => setLoaded(() => component),
        () => (fallback === undefined ? reportMissingCode() : setIsMissing(true)),
      )
    }, [])
    if (isMissing) return <MissingCode />
    return <Suspense fallback={fallback}>{Loaded ? <Loaded {...props} /> : fallback}</Suspense>
  }
}
