import { Toast } from '@base-ui/react/toast'
import { X } from 'lucide-react'
import { useEffect } from 'react'
import styles from './announce.module.css'
import { IconButton } from './button.tsx'

export type Announcement = { title: string; description?: string }

const manager = Toast.createToastManager()

const Announced = () =>
  Toast.useToastManager().toasts.map((toast) => (
    <Toast.Root key={toast.id} toast={toast} className={styles.toast}>
      <Toast.Content className={styles.content}>
        <div>
          <Toast.Title className={styles.title} />
          <Toast.Description className={styles.description} />
        </div>
        <Toast.Close render={<IconButton label="Dismiss" icon={<X />} />} />
      </Toast.Content>
    </Toast.Root>
  ))

type ToastsProps = {
  /** Called once notifications can be shown. */
  onReady: (show: (announcement: Announcement) => void) => void
}

export const Toasts = ({ onReady }: ToastsProps) => {
  useEffect(() => onReady((announcement) => manager.add({ ...announcement, timeout: 6_000 })), [onReady])
  return (
    <Toast.Provider toastManager={manager}>
      <Toast.Portal>
        <Toast.Viewport className={styles.viewport}>
          <Announced />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  )
}
