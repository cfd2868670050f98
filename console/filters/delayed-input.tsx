import { useEffect, useRef, useState } from 'react'
import { Input } from '../ui/controls.tsx'

/** Shows a text field that reports changes after a pause in typing, on Enter, and on blur. */
export const Typed = ({
  value,
  onChange,
  ...rest
}: { value: string; onChange: (value: string) => void } & Omit<
  React.ComponentProps<'input'>,
  'onChange' | 'value'
>) => {
  const [text, setText] = useState(value)
  const handedOn = useRef(value)
  useEffect(() => {
    // The field's own change comes back as a prop, and must not overwrite newer input.
    if (value !== handedOn.current) setText(value)
    handedOn.current = value
  }, [value])
  const handOn = () => {
    if (text === handedOn.current) return
    handedOn.current = text
    onChange(text)
  }
  const latest = useRef(handOn)
  useEffect(() => {
    latest.current = handOn
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: typing restarts the timer
  useEffect(() => {
    const timer = setTimeout(() => latest.current(), 400)
    return () => clearTimeout(timer)
  }, [text])
  return (
    <Input
      {...rest}
      value={text}
      onChange={({ target }) => setText(target.value)}
      onBlur={handOn}
      onKeyDown={(event) => {
        if (event.key !== 'Enter') return
        event.preventDefault()
        handOn()
      }}
    />
  )
}
