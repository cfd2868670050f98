import { useEffect, useState } from 'react'

/** Returns a value once it has stopped changing. Values that are equal as JSON keep their identity. */
export const useDeferred = <T>(value: T, ms: number): T => {
  const text = JSON.stringify(value)
  const [rested, setRested] = useState({ text, value })
  useEffect(() => {
    if (text === rested.text) return
    const timer = setTimeout(() => setRested({ text, value }), ms)
    return () => clearTimeout(timer)
  }, [text, value, rested.text, ms])
  return rested.value
}
