// Shows the periods, dates, and comparisons to choose from. No page opens with this panel, so its code is loaded later.

import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { Button } from '../ui/button.tsx'
import { Field, Input, Select } from '../ui/controls.tsx'
import { codeOf, common } from './periods.ts'
import { comparedDays, comparisons, daysOf, isDates, rangeOfDays, type TimeRange } from './range.ts'
import styles from './range-picker.module.css'
import type { Comparison, RangeSearch } from './range-search.ts'

type RangePanelProps = {
  time: TimeRange
  timezone: string
  /** Undefined for pages without a comparison. */
  compare: Comparison | undefined
  onChange: (range: RangeSearch) => void
  /** Called with a period, which closes the panel. */
  onChoose: (code: string) => void
}

const steps: Record<string, number> = { ArrowUp: -1, ArrowDown: 1 }

/** Shows the common periods. The arrow keys move between them. */
const Presets = ({ chosen, onChoose }: { chosen: string; onChoose: (code: string) => void }) => {
  const press = (event: KeyboardEvent<HTMLElement>) => {
    const step = steps[event.key]
    if (step === undefined) return
    event.preventDefault()
    const buttons = [...event.currentTarget.querySelectorAll('button')]
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement)
    buttons[Math.min(buttons.length - 1, Math.max(0, at + step))]?.focus()
  }
  const list = useRef<HTMLDivElement>(null)
  const codes = common.map(([period]) => codeOf(period))
  const entry = codes.includes(chosen) ? chosen : codes[0]
  useEffect(() => list.current?.querySelector<HTMLElement>('[tabindex="0"]')?.focus(), [])
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is laid out in its own way
    <div ref={list} className={styles.presets} role="group" aria-label="Periods" onKeyDown={press}>
      {common.map(([period, label]) => {
        const code = codeOf(period)
        return (
          <button
            key={code}
            type="button"
            className={styles.preset}
            aria-pressed={code === chosen}
            tabIndex={code === entry ? 0 : -1}
            onClick={() => onChoose(code)}
          >
            {label}
          </button>
        )
      })}
    </div>
  )
}

type DatesProps = {
  /** The label for the days. */
  label: string
  /** The initial values of the days. */
  start: { from: string; to: string }
  timezone: string
  onChoose: (code: `${string}..${string}`) => void
}

/** Shows the fields for the first and last day. Both days are included. */
const Dates = ({ label, start, timezone, onChoose }: DatesProps) => {
  const [days, setDays] = useState(start)
  const [fault, setFault] = useState<string>()
  const { from, to } = days
  const apply = () => {
    if (rangeOfDays(from, to, timezone)) return onChoose(`${from}..${to}`)
    setFault(from === '' || to === '' ? 'Choose both dates.' : 'The last day is before the first.')
  }
  return (
    <form
      className={styles.dates}
      aria-label={label}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        apply()
      }}
    >
      <Field label="From">
        {(ids) => (
          <Input
            {...ids}
            type="date"
            value={from}
            max={to}
            onChange={({ target }) => setDays({ from: target.value, to })}
          />
        )}
      </Field>
      <Field label="To" fault={fault}>
        {(ids) => (
          <Input
            {...ids}
            type="date"
            value={to}
            min={from}
            onChange={({ target }) => setDays({ from, to: target.value })}
          />
        )}
      </Field>
      <div>
        <Button type="submit" small>
          Apply dates
        </Button>
      </div>
    </form>
  )
}

type ComparedProps = Pick<RangePanelProps, 'time' | 'timezone' | 'onChange'> & { compare: Comparison }

/** Shows the comparison options. If other days are selected, fields for them appear below. */
const Compared = ({ time, timezone, compare, onChange }: ComparedProps) => {
  const [isCustom, setCustom] = useState(isDates(compare))
  const choose = (value: string) => {
    setCustom(value === 'dates')
    if (value !== 'dates') onChange({ compare: value as Comparison })
  }
  return (
    <>
      <Field label="Compare with">
        {(ids) => (
          <Select
            {...ids}
            value={isCustom ? 'dates' : compare}
            options={comparisons}
            onChange={({ target }) => choose(target.value)}
          />
        )}
      </Field>
      {isCustom && (
        <Dates
          label="Dates to compare with"
          start={comparedDays(compare, daysOf(time, timezone))}
          timezone={timezone}
          onChoose={(code) => onChange({ compare: code })}
        />
      )}
    </>
  )
}

export const RangePanel = ({ time, timezone, compare, onChange, onChoose }: RangePanelProps) => (
  <div className={styles.panel} role="dialog" aria-label="Period">
    <Presets chosen={time.period ? codeOf(time.period) : ''} onChoose={onChoose} />
    <div className={styles.custom}>
      <Dates label="Dates" start={daysOf(time, timezone)} timezone={timezone} onChoose={onChoose} />
      {compare !== undefined && <Compared time={time} timezone={timezone} compare={compare} onChange={onChange} />}
      <p className={styles.soft}>Days start at midnight in {timezone.replaceAll('_', ' ')}.</p>
    </div>
  </div>
)
