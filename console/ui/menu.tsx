import { cloneElement, useEffect, useRef, useState } from 'react'
import { firstUse } from '../lib/first-use.ts'
import type { MenuProps } from './loaded-menu.tsx'

const load = () => import('./loaded-menu.tsx')

let loaded: Awaited<ReturnType<typeof load>>['LoadedMenu'] | undefined

const ready = firstUse.then(load).then(({ LoadedMenu }) => {
  loaded = LoadedMenu
})

/** A button that opens a short list of things to do. Until somebody uses the page it is only the button. */
export const Menu = (props: MenuProps) => {
  const [Loaded, setLoaded] = useState(() => loaded)
  const [pressed, setPressed] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  const hadFocus = useRef(false)
  useEffect(() => {
    let isShown = true
    void ready.then(() => {
      hadFocus.current = button.current !== null && button.current === document.activeElement
      if (isShown) setLoaded(() => loaded)
    })
    return () => {
      isShown = false
    }
  }, [])
  useEffect(() => {
    // The button of the menu takes the place of this one, and its focus.
    if (Loaded && hadFocus.current) button.current?.focus()
  }, [Loaded])
  if (Loaded) return <Loaded {...props} trigger={cloneElement(props.trigger, { ref: button })} defaultOpen={pressed} />
  return cloneElement(props.trigger, { ref: button, 'aria-haspopup': 'menu', onClick: () => setPressed(true) })
}
