import { useQuery } from '@tanstack/react-query'
import { X } from 'lucide-react'
import { namesOptions } from '../api/names.ts'
import { Line, Lines } from '../filters/filter-lines.tsx'
import { categoriesOf, mayHaveFields, mayNameCategories, measuredFieldsOf } from '../monitors/outputs.ts'
import type { Monitor } from '../monitors/queries.ts'
import { IconButton } from '../ui/button.tsx'
import { Input, type Option, Select } from '../ui/controls.tsx'
import type { MeasureDraft } from './draft.ts'
import styles from './launch.module.css'

const kindsOf = (monitor: Monitor): Option[] => [
  { value: 'result', label: 'result' },
  ...(mayNameCategories(monitor) ? [{ value: 'category', label: 'category' }] : []),
  ...(mayHaveFields(monitor) ? [{ value: 'field', label: 'field' }] : []),
]

const keysOf = (monitor: Monitor, kind: MeasureDraft['kind']): Option[] =>
  kind === 'category' ? categoriesOf(monitor) : measuredFieldsOf(monitor).map((value) => ({ value, label: value }))

/** Starts with the first category or field. The outputs of external monitors are unknown, so people enter them. */
const start = (monitor: Monitor, kind: MeasureDraft['kind']): MeasureDraft => {
  const key = kind === 'result' ? '' : (keysOf(monitor, kind)[0]?.value ?? '')
  return { metricId: monitor.id, kind, key, low: '', high: '' }
}

const KeyInput = ({
  monitor,
  measure,
  label,
  onChange,
}: {
  monitor: Monitor
  measure: MeasureDraft
  label: string
  onChange: (key: string) => void
}) => {
  const known = keysOf(monitor, measure.kind)
  return known.length > 0 ? (
    <Select aria-label={label} value={measure.key} options={known} onChange={({ target }) => onChange(target.value)} />
  ) : (
    <Input
      aria-label={label}
      placeholder={measure.kind}
      maxLength={64}
      value={measure.key}
      onChange={({ target }) => onChange(target.value)}
    />
  )
}

type MeasureLinesProps = {
  monitorIds: string[]
  measures: MeasureDraft[]
  onChange: (measures: MeasureDraft[]) => void
  fault: string | undefined
}

/** Shows which of the monitors' categories and fields are outcomes. Without any, a monitor's result is the outcome. */
export const MeasureLines = ({ monitorIds, measures, onChange, fault }: MeasureLinesProps) => {
  const { data = [] } = useQuery(namesOptions('monitors'))
  const monitors = (data as Monitor[]).filter(
    (monitor) => monitorIds.includes(monitor.id) && (mayNameCategories(monitor) || mayHaveFields(monitor)),
  )
  const [first] = monitors
  if (!first) return null
  const replace = (at: number, next: MeasureDraft) =>
    onChange(measures.map((one, index) => (index === at ? next : one)))
  const add = () => onChange([...measures, start(first, mayNameCategories(first) ? 'category' : 'field')])
  return (
    <Lines title="Categories and fields" add="Add category or field" onAdd={add}>
      {measures.map((measure, at) => {
        const monitor = monitors.find(({ id }) => id === measure.metricId)
        const change = (part: Partial<MeasureDraft>) => replace(at, { ...measure, ...part })
        const number = at + 1
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: measures only have their position as a key
          <Line key={at}>
            <Select
              aria-label={`Monitor of measure ${number}`}
              value={measure.metricId}
              options={monitors.map(({ id, name }) => ({ value: id, label: name }))}
              onChange={({ target }) => {
                const next = monitors.find(({ id }) => id === target.value)
                if (next) replace(at, start(next, mayNameCategories(next) ? 'category' : 'field'))
              }}
            />
            {monitor && (
              <Select
                aria-label={`Type of measure ${number}`}
                value={measure.kind}
                options={kindsOf(monitor)}
                onChange={({ target }) => replace(at, start(monitor, target.value as MeasureDraft['kind']))}
              />
            )}
            {monitor && measure.kind !== 'result' && (
              <KeyInput
                monitor={monitor}
                measure={measure}
                label={`${measure.kind === 'category' ? 'Category' : 'Field'} of measure ${number}`}
                onChange={(key) => change({ key })}
              />
            )}
            {measure.kind === 'field' && (
              <>
                <Input
                  aria-label={`Smallest value of measure ${number}`}
                  placeholder="smallest value"
                  inputMode="decimal"
                  value={measure.low}
                  onChange={({ target }) => change({ low: target.value })}
                />
                <Input
                  aria-label={`Largest value of measure ${number}`}
                  placeholder="largest value"
                  inputMode="decimal"
                  value={measure.high}
                  onChange={({ target }) => change({ high: target.value })}
                />
              </>
            )}
            <IconButton
              label={`Remove measure ${number}`}
              icon={<X />}
              onClick={() => onChange(measures.toSpliced(at, 1))}
            />
          </Line>
        )
      })}
      {fault && <p className={styles.fault}>{fault}</p>}
    </Lines>
  )
}
