import { Toast } from '@base-ui/react/toast'
import { X } from 'lucide-react'
import styles from './announce.module.css'
import { IconButton } from './button.tsx'

const manager = Toast.createToastManager()

/** Says once, at the corner of the window and to screen readers, that something is done. */
export const announce = (title: string, description?: string): void => {
  manager.add({ title, timeout: 6_000, ...(description !== undefined && { description }) })
}

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

export const Announcements = () => (
  <Toast.Provider toastManager={manager}>
    <Toast.Portal>
      <Toast.Viewport className={styles.viewport}>
        <Announced />
      </Toast.Viewport>
    </Toast.Portal>
  </Toast.Provider>
)
