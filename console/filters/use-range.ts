import { useEffect, useMemo, useState } from 'react'
import { useMe } from '../api/session.ts'
import { ownZone } from '../lib/zones.ts'
import { readRange, type TimeRange } from './range.ts'
import { type Comparison, type RangeSearch, readRangeSearch } from './range-search.ts'

const storageKey = (userId: string, page: string): string => `earshot-range:${userId}:${page}`

const recall = (key: string): RangeSearch => {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(key) ?? '{}')
    return typeof stored === 'object' && stored !== null ? readRangeSearch({ ...stored }) : {}
  } catch {
    return {}
  }
}

/** The key shared by pages with the same period. */
export const sharedRange = 'shared'

/** Returns the default period for these pages. */
export const lastDays = (days: number): TimeRange => ({ period: { last: `${days}d`, timezone: ownZone() } })

type Defaults = { time: TimeRange; compare?: Comparison }

/** Returns the selected range: the one in the address, or the one that was selected last. */
const chosenOf = (search: RangeSearch, remembered: RangeSearch): RangeSearch =>
  search.time === undefined && search.compare === undefined ? remembered : search

type RangeOptions = {
  /** Pages with the same name share their range. */
  page: string
  /** The query parameters in the address. */
  search: RangeSearch
  defaults: Defaults
  /** Puts a range into the address. */
  navigate: (range: RangeSearch) => void
}

/** Returns the range in the viewer's time zone, regardless of who chose the period. */
const inZone = ({ period, ...dates }: TimeRange, timezone: string): TimeRange =>
  period ? { period: { ...period, timezone } } : dates

/**
 * Returns a page's period: the one in the address, the one that the person selected last, or the default. The last
 * selected one is added to the address, so that others see the same period when they open it.
 */
export const useRange = ({ page, search, defaults, navigate }: RangeOptions) => {
  const { member } = useMe()
  const key = storageKey(member.userId, page)
  const timezone = ownZone()
  const [changes, setChanges] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: read again after each change
  const remembered = useMemo(() => recall(key), [key, changes])
  const isOpen = search.time === undefined && search.compare === undefined
  const chosen = chosenOf(search, remembered)
  const time = readRange(chosen.time, timezone) ?? inZone(defaults.time, timezone)
  const compare = chosen.compare ?? defaults.compare ?? 'none'
  const isRecalled = isOpen && Object.keys(remembered).length > 0
  // biome-ignore lint/correctness/useExhaustiveDependencies: the address is only completed when the page is opened
  useEffect(() => {
    if (isRecalled) navigate(remembered)
  }, [key, isRecalled])
  const choose = (range: RangeSearch) => {
    const time = range.time ?? chosen.time
    const compare = range.compare ?? chosen.compare
    const next = { ...(time !== undefined && { time }), ...(compare !== undefined && { compare }) }
    localStorage.setItem(key, JSON.stringify(next))
    setChanges(changes + 1)
    navigate(next)
  }
  return {
    time,
    compare,
    timezone,
    isChanged: Object.keys(chosen).length > 0,
    choose,
    /** Returns to the default. */
    forget: () => {
      localStorage.removeItem(key)
      setChanges(changes + 1)
      navigate({})
    },
  }
}
