// Forms: a fault of the service stands at the field that it names, and what was typed stays.

import { type ComponentProps, type ReactNode, useId, useState } from 'react'
import { type FieldValues, FormProvider, type Path, type UseFormReturn, useFormContext } from 'react-hook-form'
import { asFault, Fault } from '../api/fault.ts'
import { Button } from './button.tsx'
import styles from './form.module.css'
import { FaultNote } from './states.tsx'

type FormProps<T extends FieldValues> = {
  form: UseFormReturn<T>
  /** Sends the values; a Fault that it throws is shown. */
  send: (values: T) => Promise<unknown>
  submit: string
  /** Beside the button that sends. */
  beside?: ReactNode
  /** The name of a field by the path of an issue, where they differ. */
  fieldOf?: (path: string) => string
  children: ReactNode
}

export const Form = <T extends FieldValues>({
  form,
  send,
  submit,
  beside,
  fieldOf = (path) => path,
  children,
}: FormProps<T>) => {
  const [fault, setFault] = useState<Fault>()
  const onSubmit = form.handleSubmit(async (values) => {
    setFault(undefined)
    try {
      await send(values)
    } catch (error) {
      const { status, message, issues, requestId } = asFault(error)
      // A field that is not shown cannot show its fault.
      const placed = issues.map((issue) => ({ ...issue, field: fieldOf(issue.path) as Path<T> }))
      const [own, others] = [
        placed.filter(({ field }) => has(form, field)),
        placed.filter(({ field }) => !has(form, field)),
      ]
      for (const { field, message: text } of own)
        form.setError(field, { message: text }, { shouldFocus: field === own[0]?.field })
      if (own.length === 0 || others.length > 0) setFault(new Fault({ status, message, issues: others, requestId }))
    }
  })
  return (
    <FormProvider {...form}>
      <form className={styles.form} noValidate onSubmit={onSubmit}>
        {children}
        {fault && <FaultNote error={fault} />}
        <div className={styles.ways}>
          <Button type="submit" look="primary" busy={form.formState.isSubmitting}>
            {submit}
          </Button>
          {beside}
        </div>
      </form>
    </FormProvider>
  )
}

const has = <T extends FieldValues>(form: UseFormReturn<T>, name: string): boolean =>
  document.getElementsByName(name).length > 0 && form.getFieldState(name as Path<T>) !== undefined

type FieldProps = {
  label: string
  hint?: ReactNode
  fault?: string | undefined
  /** Gets the ids that tie the control to its words. */
  children: (ids: { id: string; 'aria-describedby'?: string; 'aria-invalid'?: true }) => ReactNode
}

/** A control with its label, its hint and its fault. */
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

/** What a field of the form around is tied to: its registration and its fault. */
const useField = (name: string, required: boolean | undefined, label: string) => {
  const { register, getFieldState, formState } = useFormContext()
  return {
    registration: register(name, required ? { required: `${label} is needed.` } : {}),
    fault: getFieldState(name, formState).error?.message,
  }
}

type Named = { name: string; label: string; hint?: ReactNode }

export const TextField = ({ name, label, hint, required, ...rest }: Named & Omit<ComponentProps<'input'>, 'name'>) => {
  const { registration, fault } = useField(name, required, label)
  return (
    <Field label={label} hint={hint} fault={fault}>
      {(ids) => (
        <input className={styles.control} autoComplete="off" {...rest} {...ids} {...registration} required={required} />
      )}
    </Field>
  )
}

export const TextArea = ({
  name,
  label,
  hint,
  required,
  ...rest
}: Named & Omit<ComponentProps<'textarea'>, 'name'>) => {
  const { registration, fault } = useField(name, required, label)
  return (
    <Field label={label} hint={hint} fault={fault}>
      {(ids) => (
        <textarea className={styles.control} rows={4} {...rest} {...ids} {...registration} required={required} />
      )}
    </Field>
  )
}

export type Option = { value: string; label: string }

export const SelectField = ({
  name,
  label,
  hint,
  options,
  required,
  ...rest
}: Named & { options: Option[] } & Omit<ComponentProps<'select'>, 'name'>) => {
  const { registration, fault } = useField(name, required, label)
  return (
    <Field label={label} hint={hint} fault={fault}>
      {(ids) => <Select {...rest} {...ids} {...registration} options={options} />}
    </Field>
  )
}

export const CheckField = ({ name, label, hint }: Named) => {
  const { registration } = useField(name, false, label)
  return <Check label={label} hint={hint} {...registration} />
}

// ── The same controls outside of a form.

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

/** One of a few, all of them seen. */
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

/** Fields side by side where there is room. */
export const Row = ({ children }: { children: ReactNode }) => <div className={styles.row}>{children}</div>
