import { useBlocker } from '@tanstack/react-router'
import { Button } from './button.tsx'
import styles from './dialog.module.css'
import { Dialog } from './dialog.tsx'

const openOf = (search: object) => ('open' in search ? search.open : undefined)

/** Asks before what was typed is lost. */
export const LeaveGuard = ({ isDirty }: { isDirty: () => boolean }) => {
  const { status, proceed, reset } = useBlocker({
    // Another choice on the same page changes the address too; what is open beside a list is a page of its own.
    shouldBlockFn: ({ current, next }) =>
      (current.pathname !== next.pathname || openOf(current.search) !== openOf(next.search)) && isDirty(),
    enableBeforeUnload: isDirty,
    withResolver: true,
  })
  return (
    <Dialog title="Leave without saving?" open={status === 'blocked'} onClose={() => reset?.()}>
      <p>What you typed is not kept.</p>
      <div className={styles.ways}>
        <Button onClick={() => reset?.()}>Stay</Button>
        <Button look="danger" onClick={() => proceed?.()}>
          Leave
        </Button>
      </div>
    </Dialog>
  )
}
