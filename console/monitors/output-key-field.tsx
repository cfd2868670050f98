import { Field, Input, Select } from '../ui/controls.tsx'
import { categoriesOf, measuredFieldsOf } from './outputs.ts'
import type { Monitor } from './queries.ts'

type OutputKeyFieldProps = {
  monitor: Monitor
  output: 'category' | 'field'
  /** The label of the option that selects nothing. */
  none: string
  hint?: string
  value: string
  onChange: (value: string) => void
}

/**
 * Shows a field that selects a monitor's category or field. The outputs of external monitors are unknown, so people
 * enter them.
 */
export const OutputKeyField = ({ monitor, output, none, hint, value, onChange }: OutputKeyFieldProps) => {
  const isCategory = output === 'category'
  const known = isCategory
    ? categoriesOf(monitor)
    : measuredFieldsOf(monitor).map((key) => ({ value: key, label: key }))
  const others = value === '' || known.some((option) => option.value === value) ? [] : [{ value, label: value }]
  return (
    <Field label={isCategory ? 'Category' : 'Field'} hint={known.length === 0 ? hint : undefined}>
      {(ids) =>
        known.length > 0 ? (
          <Select
            {...ids}
            value={value}
            options={[{ value: '', label: none }, ...known, ...others]}
            onChange={({ target }) => onChange(target.value)}
          />
        ) : (
          <Input
            {...ids}
            maxLength={64}
            autoComplete="off"
            value={value}
            onChange={({ target }) => onChange(target.value)}
          />
        )
      }
    </Field>
  )
}
