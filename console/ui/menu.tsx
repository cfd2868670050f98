import { cloneElement, type PointerEvent, useEffect, useRef, useState } from 'react'
import { firstUse } from '../lib/first-use.ts'
import { lazyCode, reportMissingCode } from '../lib/lazy-code.ts'
import type { MenuProps } from './loaded-menu.tsx'

const code = lazyCode(async () => (await import('./loaded-menu.tsx')).LoadedMenu)

/** Shows a button that opens a menu. Until someone first uses the page, only the button is rendered. */
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
  // biome-ignore lint/correctness/useExhaustiveDependencies: the menu is only preloaded once
  useEffect(() => {
    // If loading fails, the error appears when someone presses the button.
    firstUse.then(load).catch(() => undefined)
  }, [])
  useEffect(() => {
    // The loaded menu's button replaces this one and takes over its focus.
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
  // The menu opens on pointer down, because the loaded button may replace this one before the click.
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
