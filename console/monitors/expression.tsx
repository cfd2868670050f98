import { useFormContext } from 'react-hook-form'
import { Field } from '../ui/controls.tsx'
import { errorRange } from './error-range.ts'
import styles from './expression.module.css'

type ExpressionProps = {
  name: string
  label: string
  hint: string
  /** The minimum number of visible lines. */
  lines: number
  required?: boolean
  placeholder?: string
  /** The error and its position in the expression. */
  problem: string | undefined
}

const Underlined = ({ text, problem }: { text: string; problem: string | undefined }) => {
  const place = problem === undefined ? undefined : errorRange(text, problem)
  if (!place) return <>{`${text}\n`}</>
  const [start, end] = place
  return (
    <>
      {text.slice(0, start)}
      <mark>{text.slice(start, end)}</mark>
      {`${text.slice(end)}\n`}
    </>
  )
}

/** Shows a rule's editor, with the error underlined. */
export const Expression = ({ name, label, hint, lines, required = false, placeholder, problem }: ExpressionProps) => {
  const { register, watch, getFieldState, formState } = useFormContext()
  const text: string = watch(name) ?? ''
  const fault = problem ?? getFieldState(name, formState).error?.message
  return (
    <Field label={label} hint={hint} fault={text === '' && !formState.isSubmitted ? undefined : fault}>
      {(ids) => (
        <div className={styles.box} style={{ minHeight: `${lines * 21 + 14}px` }}>
          <pre className={styles.under} aria-hidden="true">
            <Underlined text={text} problem={problem} />
          </pre>
          <textarea
            {...ids}
            {...register(name, required ? { required: `${label} is required.` } : {})}
            className={styles.text}
            rows={lines}
            maxLength={10_000}
            required={required}
            placeholder={placeholder}
            spellCheck={false}
            autoCapitalize="off"
            autoComplete="off"
          />
        </div>
      )}
    </Field>
  )
}
