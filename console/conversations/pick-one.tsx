import { useMutation } from '@tanstack/react-query'
import { Button } from '../ui/button.tsx'
import { ChooserOfOne } from '../ui/chooser.tsx'
import type { Option } from '../ui/controls.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { FaultNote, Loading } from '../ui/states.tsx'
import styles from './pick-one.module.css'

type PickOneProps = {
  title: string
  label: string
  hint: string
  action: string
  /** Appears if there are no options. */
  none: string
  options: Option[]
  isLoaded: boolean
  error: unknown
  value: string | null
  onChange: (value: string | null) => void
  send: (id: string) => Promise<void>
  onClose: () => void
}

/** Picks one item by typing, to attach or add something to it. */
export const PickOne = ({ title, label, hint, action, none, options, isLoaded, error, ...rest }: PickOneProps) => {
  const { value, onChange, send, onClose } = rest
  const put = useMutation({ mutationFn: (id: string) => send(id), onSuccess: onClose })
  return (
    <Dialog title={title} open onClose={onClose}>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault()
          if (value !== null) put.mutate(value)
        }}
      >
        {error ? <FaultNote error={error} /> : null}
        {!isLoaded && !error && <Loading lines={1} />}
        {isLoaded && options.length === 0 && <p>{none}</p>}
        {options.length > 0 && (
          <ChooserOfOne
            label={label}
            hint={hint}
            options={options}
            value={value}
            onChange={onChange}
            placeholder="Search"
          />
        )}
        {put.error && <FaultNote error={put.error} />}
        <div className={styles.ways}>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" disabled={value === null} busy={put.isPending}>
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
