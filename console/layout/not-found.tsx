import { type ErrorComponentProps, useRouter } from '@tanstack/react-router'
import { leadsNowhere } from '../api/fault.ts'
import { ButtonLink } from '../ui/button.tsx'
import { Page } from '../ui/page.tsx'
import { Empty, FaultNote } from '../ui/states.tsx'

export const NotFound = () => (
  <Page title="Nothing here">
    <Empty title="There is no page under this address" action={<ButtonLink to="/">To the overview</ButtonLink>}>
      <p>The link may be incomplete, or what it led to is gone.</p>
    </Empty>
  </Page>
)

/** A page that could not be shown at all. What is absent is told as such; the rest is told as it came. */
export const PageFault = ({ error, reset }: ErrorComponentProps) => {
  const router = useRouter()
  // What failed before the page was drawn is asked anew too.
  const retry = () => {
    reset()
    void router.invalidate()
  }
  if (leadsNowhere(error)) return <NotFound />
  return (
    <Page title="This page could not be shown">
      <FaultNote error={error} retry={retry} />
    </Page>
  )
}
