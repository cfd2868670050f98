import { cloneElement, type PointerEvent, useEffect, useRef, useState } from 'react'
import { firstUse } from '../lib/first-use.ts'
import { lateCode, reportMissingCode } from '../lib/late-code.ts'
import type { MenuProps } from './loaded-menu.tsx'

const code = lateCode(async () => (await import('./loaded-menu.tsx')).LoadedMenu)

/** A button that opens a short list of things to do. Until somebody uses the page it is only the button. */
export const Menu = (props: MenuProps) => {
  const [Loaded, setLoaded] = useState(() => code.loaded)
  const [pressed, setPressed] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  const hadFocus = useRef(false)
  const load = async () => {
    const LoadedMenu = await code.load()
    hadFocus.current = button.current !== null && button.current === document.activeElement
    setLoaded(() => LoadedMenu)
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: only the first use of the page loads it early
  useEffect(() => {
    // If it cannot be loaded, the user is told once they press the button.
    firstUse.then(load).catch(() => undefined)
  }, [])
  useEffect(() => {
    // The button of the menu takes the place of this one, and its focus.
    if (Loaded && hadFocus.current) button.current?.focus()
  }, [Loaded])
  const press = () => {
    setPressed(true)
    load().catch(() => {
      setPressed(false)
      reportMissingCode()
    })
  }
  if (Loaded) return <Loaded {...props} trigger={cloneElement(props.trigger, { ref: button })} defaultOpen={pressed} />
  // Already when it goes down: the loaded button may take this one's place before the click.
  const pressDown = (event: PointerEvent) => {
    if (event.button === 0 && !event.ctrlKey) press()
  }
  return cloneElement(props.trigger, {
    ref: button,
    'aria-haspopup': 'menu',
    onPointerDown: pressDown,
    onClick: press,
  })
}
