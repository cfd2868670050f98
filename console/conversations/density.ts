import { useState } from 'react'
import type { Density } from '../ui/long-table.tsx'

const storageKey = 'earshot.density'

/** Returns the height of the rows, which this browser remembers. */
export const useDensity = (): [Density, (density: Density) => void] => {
  const [density, setDensity] = useState<Density>(() =>
    localStorage.getItem(storageKey) === 'compact' ? 'compact' : 'normal',
  )
  return [
    density,
    (next) => {
      localStorage.setItem(storageKey, next)
      setDensity(next)
    },
  ]
}
