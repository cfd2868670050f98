import { Outlet, useRouterState } from '@tanstack/react-router'
import { Menu as MenuIcon } from 'lucide-react'
import { useEffect, useState } from 'react'
import { IconButton } from '../ui/button.tsx'
import { useKeys } from '../ui/keys.tsx'
import { late } from '../ui/late.tsx'
import { Later } from '../ui/later.tsx'
import styles from './app.module.css'
import { Rail } from './rail.tsx'

const place = 'earshot-rail'

const Palette = late(async () => (await import('./palette.tsx')).Palette)

/** The frame of every page: the rail at the left, on small windows behind a button. */
export const App = () => {
  const [folded, setFolded] = useState(() => localStorage.getItem(place) === 'folded')
  const [drawer, setDrawer] = useState(false)
  const [finding, setFinding] = useState(false)
  const pathname = useRouterState({ select: ({ location }) => location.pathname })
  // The reviewer's room has nothing around it. Told by what is shown, not by the address, which changes before that.
  const alone = useRouterState({
    select: ({ matches }) => matches.some(({ routeId }) => routeId === '/app/review/$bucketId'),
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page closes the drawer
  useEffect(() => setDrawer(false), [pathname])
  useKeys({
    'mod+k': { does: 'Find pages, conversations, monitors, actions', run: () => setFinding(true), always: true },
    ...(drawer && { Escape: { does: 'Close the menu', run: () => setDrawer(false) } }),
  })
  const fold = () => {
    localStorage.setItem(place, folded ? 'unfolded' : 'folded')
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
        Skip to the content
      </a>
      <header className={styles.bar}>
        <IconButton label="Menu" icon={<MenuIcon />} aria-expanded={drawer} onClick={() => setDrawer(!drawer)} />
        <strong>Earshot</strong>
      </header>
      <div className={drawer ? `${styles.side} ${styles.open}` : styles.side}>
        <Later>
          <Rail folded={folded && !drawer} onFold={fold} onSearch={() => setFinding(true)} />
        </Later>
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
