import { type ErrorComponentProps, useRouter } from '@tanstack/react-router'
import { isNotFound } from '../api/fault.ts'
import { ButtonLink } from '../ui/button.tsx'
import { Page } from '../ui/page.tsx'
import { Empty, FaultNote } from '../ui/states.tsx'

export const NotFound = () => (
  <Page title="Page not found">
    <Empty title="This page doesn’t exist" action={<ButtonLink to="/">Go to overview</ButtonLink>}>
      <p>The link may be incomplete, or the page may have been deleted.</p>
    </Empty>
  </Page>
)

/** Replaces a page that failed to load. If its resource doesn't exist, shows "not found" instead of the error. */
export const PageFault = ({ error, reset }: ErrorComponentProps) => {
  const router = useRouter()
  // This also reloads the data that failed to load before the page was rendered.
  const retry = () => {
    reset()
    void router.invalidate()
  }
  if (isNotFound(error)) return <NotFound />
  return (
    <Page title="This page couldn’t be loaded">
      <FaultNote error={error} retry={retry} />
    </Page>
  )
}
