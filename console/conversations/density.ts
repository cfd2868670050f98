import { useState } from 'react'
import type { Density } from '../ui/long-table.tsx'

const storageKey = 'earshot.density'

/** The height of the rows, remembered in this browser. */
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
