import { Outlet, useRouterState } from '@tanstack/react-router'
import { Menu as MenuIcon } from 'lucide-react'
import { useEffect, useState } from 'react'
import { startLive } from '../live/live.ts'
import { Bell } from '../notifications/bell.tsx'
import { IconButton } from '../ui/button.tsx'
import { useKeys } from '../ui/keys.tsx'
import { lazy } from '../ui/lazy.tsx'
import { RenderLater } from '../ui/render-later.tsx'
import styles from './app.module.css'
import { Rail } from './rail.tsx'

const storageKey = 'earshot-rail'

const Palette = lazy(async () => (await import('./palette.tsx')).Palette)

/** Shows the frame of every page. The navigation is on the left, or behind a button on small screens. */
export const App = () => {
  const [folded, setFolded] = useState(() => localStorage.getItem(storageKey) === 'folded')
  const [drawer, setDrawer] = useState(false)
  const [finding, setFinding] = useState(false)
  const pathname = useRouterState({ select: ({ location }) => location.pathname })
  // There is no navigation while reviewing. This checks what is rendered, because the URL changes earlier.
  const alone = useRouterState({
    select: ({ matches }) => matches.some(({ routeId }) => routeId === '/app/review/$bucketId'),
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: opening another page closes the drawer
  useEffect(() => setDrawer(false), [pathname])
  useEffect(startLive, [])
  useKeys({
    'mod+k': { does: 'Search pages, conversations, monitors, and actions', run: () => setFinding(true), always: true },
    ...(drawer && { Escape: { does: 'Close menu', run: () => setDrawer(false) } }),
  })
  const fold = () => {
    localStorage.setItem(storageKey, folded ? 'unfolded' : 'folded')
    setFolded(!folded)
    setDrawer(false)
  }
  if (alone) {
    return (
      <main className={styles.main}>
        <Outlet />
      </main>
    )
  }
  return (
    <div className={styles.app}>
      <a className={styles.skip} href="#main">
        Skip to content
      </a>
      <header className={styles.bar}>
        <IconButton label="Menu" icon={<MenuIcon />} aria-expanded={drawer} onClick={() => setDrawer(!drawer)} />
        <strong>Earshot</strong>
        <span className={styles.bell}>
          <RenderLater>
            <Bell />
          </RenderLater>
        </span>
      </header>
      <div
        className={[styles.side, drawer && styles.open, folded && !drawer && styles.folded].filter(Boolean).join(' ')}
      >
        <RenderLater>
          <Rail folded={folded && !drawer} onFold={fold} onSearch={() => setFinding(true)} />
        </RenderLater>
      </div>
      {drawer && (
        <button type="button" className={styles.shade} aria-label="Close the menu" onClick={() => setDrawer(false)} />
      )}
      <main className={styles.main} id="main" tabIndex={-1}>
        <Outlet />
      </main>
      {finding && <Palette onClose={() => setFinding(false)} />}
    </div>
  )
}
