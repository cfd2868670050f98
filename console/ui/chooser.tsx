import { Combobox } from '@base-ui/react/combobox'
import { Check, X } from 'lucide-react'
import type { KeyboardEvent } from 'react'
import styles from './chooser.module.css'
import { Field, type Option } from './controls.tsx'
import menu from './menu.module.css'

type ChooserProps = {
  label: string
  hint?: string
  fault?: string | undefined
  options: Option[]
  value: string[]
  onChange: (value: string[]) => void
  placeholder?: string
}

/** The maximum number of options to show at once. Typing filters them. */
const maxShown = 100

const Popup = ({ empty, isCut }: { empty: string; isCut: boolean }) => (
  <Combobox.Portal>
    <Combobox.Positioner className={menu.positioner} sideOffset={4}>
      <Combobox.Popup className={`${menu.popup} ${styles.popup}`}>
        <Combobox.Empty>
          <div className={menu.empty}>{empty}</div>
        </Combobox.Empty>
        <Combobox.List>
          {(option: Option) => (
            <Combobox.Item key={option.value} value={option} className={`${menu.item} ${styles.item}`}>
              <span className={styles.text}>{option.label}</span>
              <Combobox.ItemIndicator className={styles.mark}>
                <Check aria-hidden="true" />
              </Combobox.ItemIndicator>
            </Combobox.Item>
          )}
        </Combobox.List>
        {isCut && <div className={menu.empty}>Type to find more.</div>}
      </Combobox.Popup>
    </Combobox.Positioner>
  </Combobox.Portal>
)

/** Lets Enter select an option instead of submitting the form. */
const keepForm = (event: KeyboardEvent) => event.key === 'Enter' && event.preventDefault()

/** Selects several options by typing. Selected values without an option are shown as IDs. */
export const Chooser = ({ label, hint, fault, options, value, onChange, placeholder }: ChooserProps) => {
  const chosen = value.map((id) => options.find((option) => option.value === id) ?? { value: id, label: id })
  return (
    <Field label={label} fault={fault} {...(hint && { hint })}>
      {(ids) => (
        <Combobox.Root
          multiple
          autoHighlight
          limit={maxShown}
          items={options}
          value={chosen}
          isItemEqualToValue={(a: Option, b: Option) => a.value === b.value}
          onValueChange={(next: Option[]) => onChange(next.map((option) => option.value))}
        >
          <Combobox.Chips className={styles.chips}>
            {chosen.map((option) => (
              <Combobox.Chip key={option.value} className={styles.chip} aria-label={option.label}>
                <span className={styles.text}>{option.label}</span>
                <Combobox.ChipRemove className={styles.remove} aria-label={`Remove ${option.label}`}>
                  <X aria-hidden="true" />
                </Combobox.ChipRemove>
              </Combobox.Chip>
            ))}
            <Combobox.Input
              {...ids}
              className={styles.input}
              placeholder={chosen.length > 0 ? '' : placeholder}
              onKeyDown={keepForm}
            />
          </Combobox.Chips>
          <Popup empty="No matches" isCut={options.length > maxShown} />
        </Combobox.Root>
      )}
    </Field>
  )
}

/** Selects one option by typing. Null means that none is selected. */
export const ChooserOfOne = ({
  label,
  hint,
  fault,
  options,
  value,
  onChange,
  placeholder,
}: Omit<ChooserProps, 'value' | 'onChange'> & { value: string | null; onChange: (value: string | null) => void }) => {
  const chosen = value === null ? null : (options.find((option) => option.value === value) ?? { value, label: value })
  return (
    <Field label={label} fault={fault} {...(hint && { hint })}>
      {(ids) => (
        <Combobox.Root
          autoHighlight
          limit={maxShown}
          items={options}
          value={chosen}
          isItemEqualToValue={(a: Option, b: Option) => a.value === b.value}
          onValueChange={(next: Option | null) => onChange(next?.value ?? null)}
        >
          <div className={styles.chips}>
            <Combobox.Input {...ids} className={styles.input} placeholder={placeholder} onKeyDown={keepForm} />
            <Combobox.Clear className={styles.remove} aria-label={`Clear ${label}`}>
              <X aria-hidden="true" />
            </Combobox.Clear>
          </div>
          <Popup empty="No matches" isCut={options.length > maxShown} />
        </Combobox.Root>
      )}
    </Field>
  )
}
