import { ArrowDown, ArrowUp, X } from 'lucide-react'
import { useNames } from '../api/names.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { ChooserOfOne } from '../ui/chooser.tsx'
import type { Option } from '../ui/controls.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { propertyKeys, useColumnLabel } from './columns.tsx'
import styles from './columns-dialog.module.css'
import { defaultColumns, type ViewColumn } from './default-columns.ts'
import type { Found } from './queries.ts'
import { signalNames } from './signal-names.ts'
import { soundNames } from './sound-names.ts'

const mostColumns = 50

/** Returns the keys of metadata, metrics, and results in the loaded conversations. */
const knownIn = (rows: Found[]) => {
  const keysOf = (read: (row: Found) => string[]) => [...new Set(rows.flatMap(read))].sort()
  return {
    metadata: keysOf(({ metadata }) => Object.keys(metadata)),
    metrics: keysOf(({ metrics = [] }) => metrics.map(({ key }) => key)),
    outputs: keysOf(({ results }) =>
      (results ?? []).flatMap(({ monitorId, categories, fields }) => [
        ...(categories ? [`categories:${monitorId}`] : []),
        ...Object.keys(fields ?? {}).map((field) => `field:${monitorId}:${field}`),
      ]),
    ),
  }
}

/** Returns all columns that can be added. */
const useOptions = (rows: Found[], taken: string[]): Option[] => {
  const { metadata, metrics, outputs } = knownIn(rows)
  const labelOf = useColumnLabel()
  const monitors = useNames('monitors')
  const options: [key: string, label: string][] = [
    ...propertyKeys.map((key): [string, string] => [key, labelOf(key)]),
    ...monitors.options.flatMap(({ value, label }): [string, string][] => [
      [`result:${value}`, `Result: ${label}`],
      [`score:${value}`, `Score: ${label}`],
    ]),
    ...outputs.map((key): [string, string] => [key, labelOf(key)]),
    ...metadata.map((name): [string, string] => [`metadata:${name}`, `Metadata: ${name}`]),
    ...metrics.map((name): [string, string] => [`metric:${name}`, `Metric: ${name}`]),
    ...signalNames.map((name): [string, string] => [`signal:${name}`, `Signal: ${labelOf(`signal:${name}`)}`]),
    ...soundNames.map((name): [string, string] => [`sound:${name}`, `Sound: ${labelOf(`sound:${name}`)}`]),
  ]
  return options.filter(([key]) => !taken.includes(key)).map(([value, label]) => ({ value, label }))
}

const withWidth = ({ key }: ViewColumn, text: string): ViewColumn => {
  const width = Number(text)
  return Number.isInteger(width) && width >= 40 && width <= 1_000 ? { key, width } : { key }
}

/** Adds, removes, moves, and resizes the columns of the list. Everything also works by keyboard. */
export const ColumnsDialog = ({
  columns,
  rows,
  onChange,
  onClose,
}: {
  columns: ViewColumn[]
  /** The loaded conversations. */
  rows: Found[]
  /** Undefined if the default columns are shown. */
  onChange: (columns: ViewColumn[] | undefined) => void
  onClose: () => void
}) => {
  const labelOf = useColumnLabel()
  const options = useOptions(
    rows,
    columns.map(({ key }) => key),
  )
  const move = (from: number, to: number) => {
    const moved = columns[from]
    if (moved) onChange(columns.toSpliced(from, 1).toSpliced(to, 0, moved))
  }
  return (
    <Dialog title="Columns" open onClose={onClose}>
      <div className={styles.dialog}>
        <ol className={styles.list} aria-label="Columns, from left to right">
          {columns.map((column, index) => {
            const label = labelOf(column.key)
            return (
              <li key={column.key} className={styles.line}>
                <span className={styles.name}>{label}</span>
                <input
                  type="number"
                  className={styles.width}
                  aria-label={`Width of ${label} in pixels`}
                  placeholder="Auto"
                  min={40}
                  max={1_000}
                  step={1}
                  defaultValue={column.width ?? ''}
                  onBlur={({ target }) => onChange(columns.with(index, withWidth(column, target.value)))}
                />
                <IconButton
                  label={`Move ${label} left`}
                  icon={<ArrowUp />}
                  disabled={index === 0}
                  onClick={() => move(index, index - 1)}
                />
                <IconButton
                  label={`Move ${label} right`}
                  icon={<ArrowDown />}
                  disabled={index === columns.length - 1}
                  onClick={() => move(index, index + 1)}
                />
                <IconButton
                  label={`Remove ${label}`}
                  icon={<X />}
                  disabled={columns.length === 1}
                  onClick={() => onChange(columns.toSpliced(index, 1))}
                />
              </li>
            )
          })}
        </ol>
        {columns.length < mostColumns && (
          <ChooserOfOne
            // This makes the field empty again after each addition.
            key={columns.length}
            label="Add column"
            hint="Lists metadata, metrics, categories, and fields from loaded conversations."
            placeholder="Search columns"
            options={options}
            value={null}
            onChange={(key) => key !== null && onChange([...columns, { key }])}
          />
        )}
        <div className={styles.ways}>
          <Button
            look="quiet"
            disabled={JSON.stringify(columns) === JSON.stringify(defaultColumns)}
            onClick={() => onChange(undefined)}
          >
            Reset to default
          </Button>
          <Button look="primary" onClick={onClose}>
            Done
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
