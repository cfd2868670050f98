import { useState } from 'react'
import { instantIn, localIn, ownZone } from '../lib/zones.ts'
import { Field, Input, Select } from '../ui/controls.tsx'
import { type Filter, withField } from './filter.ts'
import { chosenTime, isDates, timeOptions, withTime } from './periods.ts'

type TimeFieldsProps = { filter: Filter; onChange: (filter: Filter) => void }

/** Shows the fields for when conversations started: a period that moves with time, or two dates. */
export const TimeFields = ({ filter, onChange }: TimeFieldsProps) => {
  const [opensDates, setOpensDates] = useState(false)
  const chosen = chosenTime(filter)
  const showsDates = isDates(chosen) || (opensDates && chosen === '')
  const date = (name: 'since' | 'until', label: string) => (
    <Field label={label}>
      {(ids) => (
        <Input
          {...ids}
          type="datetime-local"
          value={filter[name] ? localIn(filter[name], ownZone()) : ''}
          onChange={({ target }) => onChange(withField(filter, name, instantIn(target.value, ownZone())))}
        />
      )}
    </Field>
  )
  return (
    <>
      <Field label="Started">
        {(ids) => (
          <Select
            {...ids}
            options={timeOptions(filter)}
            value={showsDates ? 'dates' : chosen}
            onChange={({ target }) => {
              setOpensDates(isDates(target.value))
              if (!isDates(target.value) || filter.period) onChange(withTime(filter, target.value, ownZone()))
            }}
          />
        )}
      </Field>
      {showsDates && date('since', 'Started from')}
      {showsDates && date('until', 'Started before')}
    </>
  )
}
