// Shows controls with labels and hints. They don't need a form. form.tsx connects them to forms and to their library,
// which few pages load.

import { type ComponentProps, type ReactNode, useId } from 'react'
import styles from './form.module.css'

type FieldProps = {
  label: string
  hint?: ReactNode
  fault?: string | undefined
  /** Receives the attributes that connect the control to its label, hint, and error. */
  children: (ids: { id: string; 'aria-describedby'?: string; 'aria-invalid'?: true }) => ReactNode
}

/** Shows a control with its label, hint, and error. */
export const Field = ({ label, hint, fault, children }: FieldProps) => {
  const id = useId()
  const described = [hint && `${id}-hint`, fault && `${id}-fault`].filter(Boolean).join(' ')
  return (
    <div className={styles.field}>
      <label htmlFor={id}>{label}</label>
      {hint && (
        <p className={styles.hint} id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {children({ id, ...(described && { 'aria-describedby': described }), ...(fault && { 'aria-invalid': true }) })}
      {fault && (
        <p className={styles.fault} id={`${id}-fault`}>
          {fault}
        </p>
      )}
    </div>
  )
}

export type Option = { value: string; label: string }

export const Input = (props: Omit<ComponentProps<'input'>, 'className'>) => (
  <input {...props} className={styles.control} />
)

export const Area = (props: Omit<ComponentProps<'textarea'>, 'className'>) => (
  <textarea rows={4} {...props} className={styles.control} />
)

export const Select = ({ options, ...rest }: { options: Option[] } & Omit<ComponentProps<'select'>, 'className'>) => (
  <select {...rest} className={`${styles.control} ${styles.select}`}>
    {options.map(({ value, label }) => (
      <option key={value} value={value}>
        {label}
      </option>
    ))}
  </select>
)

export const Check = ({ label, hint, ...rest }: { label: ReactNode; hint?: ReactNode } & ComponentProps<'input'>) => {
  const id = useId()
  return (
    <div className={styles.check}>
      <input {...rest} type="checkbox" id={id} {...(hint && { 'aria-describedby': `${id}-hint` })} />
      <label htmlFor={id}>{label}</label>
      {hint && (
        <p className={styles.hint} id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  )
}

/** Shows radio buttons for a few options. */
export const Choice = ({
  label,
  value,
  options,
  onChange,
  hideLabel = false,
}: {
  label: string
  value: string
  options: Option[]
  onChange: (value: string) => void
  hideLabel?: boolean
}) => {
  const name = useId()
  return (
    <fieldset className={styles.choice} aria-label={label}>
      {!hideLabel && <legend>{label}</legend>}
      <div className={styles.segments}>
        {options.map((option) => (
          <label key={option.value} className={styles.segment}>
            <input
              type="radio"
              name={name}
              value={option.value}
              checked={option.value === value}
              onChange={() => onChange(option.value)}
            />
            <span>{option.label}</span>
          </label>
        ))}
      </div>
    </fieldset>
  )
}

/** Shows fields next to each other if there is room. */
export const Row = ({ children }: { children: ReactNode }) => <div className={styles.row}>{children}</div>
