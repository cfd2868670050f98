import { useFormContext } from 'react-hook-form'
import { Field } from '../ui/controls.tsx'
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

/** The start and length of an error. */
const placeOf = (text: string, problem: string): [start: number, end: number] | undefined => {
  const [, line, column] = /line (\d+), column (\d+)/.exec(problem) ?? []
  if (!line || !column) return undefined
  const before = text.split('\n').slice(0, Number(line) - 1)
  const start = before.reduce((sum, { length }) => sum + length + 1, 0) + Number(column) - 1
  const word = /^[\w.]+/.exec(text.slice(start))?.[0].length ?? 1
  // An unexpected end is marked at the last character.
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

/** A rule's editor, with the error underlined. */
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
