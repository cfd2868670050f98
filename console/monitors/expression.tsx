import { useFormContext } from 'react-hook-form'
import { Field } from '../ui/controls.tsx'
import styles from './expression.module.css'

type ExpressionProps = {
  name: string
  label: string
  hint: string
  /** At least so many are seen. */
  lines: number
  required?: boolean
  placeholder?: string
  /** What is wrong with it, with its place in it. */
  problem: string | undefined
}

/** Where a fault begins, and how long what it means is. */
const placeOf = (text: string, problem: string): [start: number, end: number] | undefined => {
  const [, line, column] = /line (\d+), column (\d+)/.exec(problem) ?? []
  if (!line || !column) return undefined
  const before = text.split('\n').slice(0, Number(line) - 1)
  const start = before.reduce((sum, { length }) => sum + length + 1, 0) + Number(column) - 1
  const word = /^[\w.]+/.exec(text.slice(start))?.[0].length ?? 1
  // What ends too early is marked at its last sign.
  return start >= text.length ? [text.length - 1, text.length] : [start, start + word]
}

const Underlined = ({ text, problem }: { text: string; problem: string | undefined }) => {
  const place = problem === undefined ? undefined : placeOf(text, problem)
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

/** Lines of a rule, with the fault underlined where it stands. */
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
