// Shows a page's period, either a common one or dates, and its comparison.

import { CalendarDays } from 'lucide-react'
import { type FocusEvent, useEffect, useRef, useState } from 'react'
import { firstUse } from '../lib/first-use.ts'
import { Button } from '../ui/button.tsx'
import { lazy } from '../ui/lazy.tsx'
import { comparisonInWords, rangeInWords, type TimeRange } from './range.ts'
import styles from './range-picker.module.css'
import type { Comparison, RangeSearch } from './range-search.ts'

const load = async () => (await import('./range-panel.tsx')).RangePanel

firstUse.then(load).catch(() => undefined)

const RangePanel = lazy(load)

type RangePickerProps = {
  time: TimeRange
  timezone: string
  /** Undefined for pages without a comparison. */
  compare?: Comparison | undefined
  onChange: (range: RangeSearch) => void
}

export const RangePicker = ({ time, timezone, compare, onChange }: RangePickerProps) => {
  const [isOpen, setOpen] = useState(false)
  const picker = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    if (!isOpen) return
    const close = ({ target }: PointerEvent) => {
      if (target instanceof Node && !picker.current?.contains(target)) setOpen(false)
    }
    document.addEventListener('pointerdown', close)
    return () => document.removeEventListener('pointerdown', close)
  }, [isOpen])
  const close = () => {
    setOpen(false)
    button.current?.focus()
  }
  const choose = (code: string) => {
    close()
    onChange({ time: code })
  }
  const leave = ({ relatedTarget }: FocusEvent) => {
    if (relatedTarget instanceof Node && !picker.current?.contains(relatedTarget)) setOpen(false)
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only closes the panel
    <div
      ref={picker}
      className={styles.picker}
      onBlur={leave}
      onKeyDown={(event) => {
        if (!isOpen || event.key !== 'Escape') return
        event.preventDefault()
        close()
      }}
    >
      <Button ref={button} aria-expanded={isOpen} aria-haspopup="dialog" onClick={() => setOpen(!isOpen)}>
        <CalendarDays aria-hidden="true" />
        <span>
          <span className={styles.hidden}>Period: </span>
          {rangeInWords(time, timezone)}
          {compare && comparisonInWords(compare)}
        </span>
      </Button>
      {isOpen && <RangePanel time={time} timezone={timezone} compare={compare} onChange={onChange} onChoose={choose} />}
    </div>
  )
}
