import { useBlocker } from '@tanstack/react-router'
import { Button } from './button.tsx'
import styles from './dialog.module.css'
import { Dialog } from './dialog.tsx'

const openOf = (search: object) => ('open' in search ? search.open : undefined)

/** Asks for confirmation before the user leaves unsaved input. */
export const LeaveGuard = ({ isDirty }: { isDirty: () => boolean }) => {
  const { status, proceed, reset } = useBlocker({
    // Selecting something on the same page also changes the URL. The panel next to a list counts as a separate page.
    shouldBlockFn: ({ current, next }) =>
      (current.pathname !== next.pathname || openOf(current.search) !== openOf(next.search)) && isDirty(),
    enableBeforeUnload: isDirty,
    withResolver: true,
  })
  return (
    <Dialog title="Leave without saving?" open={status === 'blocked'} onClose={() => reset?.()}>
      <p>You’ll lose your changes.</p>
      <div className={styles.ways}>
        <Button onClick={() => reset?.()}>Stay</Button>
        <Button look="danger" onClick={() => proceed?.()}>
          Leave
        </Button>
      </div>
    </Dialog>
  )
}
