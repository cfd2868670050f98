import { Link, type LinkProps } from '@tanstack/react-router'
import {
  Bot,
  Building2,
  ClipboardCheck,
  Download,
  Flag,
  FlaskConical,
  Gauge,
  Headphones,
  Inbox,
  LayoutDashboard,
  MessagesSquare,
  PanelLeftClose,
  PanelLeftOpen,
  Quote,
  Search,
  Settings,
  Siren,
} from 'lucide-react'
import type { ReactNode } from 'react'
import { useMe } from '../api/session.ts'
import { Bell } from '../notifications/bell.tsx'
import { IconButton } from '../ui/button.tsx'
import { Key } from '../ui/keys.tsx'
import { Person } from './person.tsx'
import styles from './rail.module.css'

type NavigationItem = { to: NonNullable<LinkProps['to']>; label: string; icon: ReactNode; shown?: boolean }

/** Whether shortcuts use ⌘ instead of Ctrl. */
const isApple = /Mac|iP(hone|ad)/.test(navigator.userAgent)

/** Returns the pages in the navigation, in groups. */
export const useNavigationItems = (): NavigationItem[][] => {
  const { entitlements, features } = useMe()
  const groups: NavigationItem[][] = [
    [
      { to: '/', label: 'Overview', icon: <Gauge /> },
      { to: '/conversations', label: 'Conversations', icon: <MessagesSquare /> },
      { to: '/topics', label: 'Topics', icon: <Quote /> },
      { to: '/monitors', label: 'Monitors', icon: <Headphones />, shown: entitlements.monitors },
      { to: '/boards', label: 'Boards', icon: <LayoutDashboard /> },
      { to: '/findings', label: 'Findings', icon: <Flag /> },
      { to: '/alerts', label: 'Alerts', icon: <Siren /> },
      { to: '/experiments', label: 'Experiments', icon: <FlaskConical /> },
    ],
    [
      { to: '/review', label: 'Review', icon: <ClipboardCheck /> },
      { to: '/buckets', label: 'Buckets', icon: <Inbox /> },
      { to: '/exports', label: 'Exports', icon: <Download />, shown: features.monitorExports },
    ],
    [
      { to: '/agents', label: 'Agents', icon: <Bot /> },
      { to: '/companies', label: 'Companies', icon: <Building2 /> },
      { to: '/settings', label: 'Settings', icon: <Settings /> },
    ],
  ]
  return groups.map((group) => group.filter(({ shown = true }) => shown))
}

type RailProps = { folded: boolean; onFold: () => void; onSearch: () => void }

export const Rail = ({ folded, onFold, onSearch }: RailProps) => {
  const groups = useNavigationItems()
  return (
    <div className={folded ? `${styles.rail} ${styles.folded}` : styles.rail}>
      <div className={styles.brand}>
        <Link to="/" className={styles.home} aria-label="Earshot">
          <img src={`${import.meta.env.BASE_URL}icon.svg`} alt="" width="22" height="22" />
          <span className={styles.word}>Earshot</span>
        </Link>
        <div className={styles.ways}>
          <Bell />
          <IconButton
            label={folded ? 'Expand menu' : 'Collapse menu'}
            icon={folded ? <PanelLeftOpen /> : <PanelLeftClose />}
            onClick={onFold}
          />
        </div>
      </div>
      <button
        type="button"
        className={styles.search}
        onClick={onSearch}
        {...(folded && { 'aria-label': 'Search' })}
        title="Search pages, conversations, and actions"
      >
        <Search />
        <span className={styles.word}>Search</span>
        <Key>{isApple ? '⌘K' : 'Ctrl K'}</Key>
      </button>
      <nav aria-label="Main" className={styles.nav}>
        {groups.map((group) => (
          <ul key={group[0]?.label}>
            {group.map(({ to, label, icon }) => (
              <li key={label}>
                <Link
                  to={to}
                  activeOptions={{ exact: to === '/', includeSearch: false }}
                  {...(folded && { title: label })}
                >
                  {icon}
                  <span className={styles.word}>{label}</span>
                </Link>
              </li>
            ))}
          </ul>
        ))}
      </nav>
      <Person folded={folded} />
    </div>
  )
}
