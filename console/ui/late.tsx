import { type FunctionComponent, lazy, type ReactNode, Suspense } from 'react'

/** A component whose code loads when it is first shown, because the page does without it until then. */
export const late = <Props extends object>(
  load: () => Promise<FunctionComponent<Props>>,
  fallback?: ReactNode,
): FunctionComponent<Props> => {
  // React's type of a lazy component cannot follow generic properties.
  const Component: unknown = lazy(async () => ({ default: await load() }))
  const Loaded = Component as FunctionComponent<Props>
  return (props) => (
    <Suspense fallback={fallback}>
      <Loaded {...props} />
    </Suspense>
  )
}
