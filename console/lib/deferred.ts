import { useEffect, useState } from 'react'

/** A value once it has rested; equal ones, compared as JSON, are the same one. */
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
