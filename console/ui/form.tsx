// Shows a form with the API's errors next to the fields they belong to, and keeps the input.

import { type ComponentProps, type ReactNode, useState } from 'react'
import { type FieldValues, FormProvider, type Path, type UseFormReturn, useFormContext } from 'react-hook-form'
import { asFault, Fault } from '../api/fault.ts'
import { Button } from './button.tsx'
import { Check, Field, type Option, Select } from './controls.tsx'
import styles from './form.module.css'
import { FaultNote } from './states.tsx'

type FormProps<T extends FieldValues> = {
  form: UseFormReturn<T>
  /** Sends the values. A Fault that it throws is shown. */
  send: (values: T) => Promise<unknown>
  submit: string
  /** Appears next to the submit button. */
  beside?: ReactNode
  /** Maps the path of an issue to the name of a field, if they differ. */
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
      // A field that isn't rendered can't show its error.
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

/** Returns a field's registration and error in the surrounding form. */
const useField = (name: string, required: boolean | undefined, label: string) => {
  const { register, getFieldState, formState } = useFormContext()
  return {
    registration: register(name, required ? { required: `${label} is required.` } : {}),
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
