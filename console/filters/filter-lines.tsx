// Shows repeatable conditions, such as those on metadata.

import { Plus, X } from 'lucide-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import type { Schemas } from '../api/schema.d.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { Select } from '../ui/controls.tsx'
import { Typed } from './delayed-input.tsx'
import { type Filter, withField } from './filter.ts'
import styles from './filter-lines.module.css'
import { operators, takesValue } from './operators.ts'

type Condition = Schemas['Condition']
type LinesProps = { filter: Filter; onChange: (filter: Filter) => void }

/** Lays out one condition. */
export const Line = ({ children }: { children: ReactNode }) => <div className={styles.line}>{children}</div>

/** Shows a list of conditions with an add button. */
export const Lines = ({
  title,
  add,
  onAdd,
  children,
}: {
  title: string
  add: string
  onAdd: () => void
  children: ReactNode
}) => (
  <fieldset className={styles.lines}>
    <legend>{title}</legend>
    {children}
    <div>
      <Button small look="quiet" onClick={onAdd}>
        <Plus aria-hidden="true" /> {add}
      </Button>
    </div>
  </fieldset>
)

/** Shows the conditions on metadata, all of which must match. A condition without a key is only kept in the form. */
export const MetadataLines = ({ filter, onChange }: LinesProps) => {
  const stored = JSON.stringify(filter.metadata ?? [])
  const [lines, setLines] = useState<Condition[]>(filter.metadata ?? [])
  const handedOn = useRef(stored)
  useEffect(() => {
    // The form's own changes come back as props. Its conditions are only replaced if the change came from elsewhere.
    if (stored !== handedOn.current) setLines(JSON.parse(stored))
    handedOn.current = stored
  }, [stored])
  const set = (next: Condition[]) => {
    const complete = next.filter(({ key }) => key !== '')
    setLines(next)
    handedOn.current = JSON.stringify(complete)
    onChange(withField(filter, 'metadata', complete))
  }
  const change = (at: number, part: Partial<Condition>) =>
    set(
      lines.map((line, index) => {
        if (index !== at) return line
        const { value = '', ...rest } = { ...line, ...part }
        return takesValue(rest.op) ? { ...rest, value } : rest
      }),
    )
  return (
    <Lines title="Metadata" add="Add metadata" onAdd={() => setLines([...lines, { key: '', op: 'eq', value: '' }])}>
      {lines.map(({ key, op, value }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: conditions only have their position as a key
        <Line key={at}>
          <Typed
            aria-label={`Key ${at + 1}`}
            placeholder="key"
            maxLength={120}
            value={key}
            onChange={(text) => change(at, { key: text })}
          />
          <Select
            aria-label={`Comparison ${at + 1}`}
            value={op}
            options={operators}
            onChange={({ target }) => change(at, { op: target.value as Condition['op'] })}
          />
          {takesValue(op) && (
            <Typed
              aria-label={`Value ${at + 1}`}
              placeholder="value"
              maxLength={500}
              value={value ?? ''}
              onChange={(text) => change(at, { value: text })}
            />
          )}
          <IconButton label={`Remove metadata ${at + 1}`} icon={<X />} onClick={() => set(lines.toSpliced(at, 1))} />
        </Line>
      ))}
    </Lines>
  )
}
