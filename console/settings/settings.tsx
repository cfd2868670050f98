import { Link, useParams } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useMay } from '../api/session.ts'
import { lazy } from '../ui/lazy.tsx'
import { Page } from '../ui/page.tsx'
import { Empty, Loading } from '../ui/states.tsx'
import { Profile } from './profile.tsx'
import styles from './settings.module.css'

const Webhooks = lazy(async () => (await import('./webhooks.tsx')).Webhooks, <Loading />)
const Destinations = lazy(async () => (await import('./destinations.tsx')).Destinations, <Loading />)
const Ownership = lazy(async () => (await import('./ownership.tsx')).Ownership, <Loading />)
const HealthChecks = lazy(async () => (await import('./health.tsx')).HealthChecks, <Loading />)
const NotificationPreferences = lazy(
  async () => (await import('../notifications/preferences.tsx')).NotificationPreferences,
  <Loading />,
)
const Organization = lazy(async () => (await import('./organization.tsx')).Organization, <Loading />)
const Members = lazy(async () => (await import('./members.tsx')).Members, <Loading />)
const Connections = lazy(async () => (await import('./connections.tsx')).Connections, <Loading />)
const Models = lazy(async () => (await import('./models/models.tsx')).Models, <Loading />)
const AuditLog = lazy(async () => (await import('./audit-log.tsx')).AuditLog, <Loading />)
const ApiKeys = lazy(async () => (await import('./api-keys.tsx')).ApiKeys, <Loading />)

/** Scrolls to the current section. On narrow screens, the sections are in a row that scrolls sideways. */
const shownInNav = (link: HTMLAnchorElement | null) => link?.scrollIntoView({ block: 'nearest', inline: 'center' })

type SettingsTab = { name: string; label: string; content: ReactNode; shown?: boolean }

const useParts = (): SettingsTab[] => {
  const isAdmin = useMay('admin')
  const isMember = useMay('member')
  return [
    { name: 'profile', label: 'Profile', content: <Profile /> },
    { name: 'notifications', label: 'My notifications', content: <NotificationPreferences /> },
    { name: 'organization', label: 'Organization', content: <Organization /> },
    { name: 'members', label: 'Members', content: <Members /> },
    { name: 'api-keys', label: 'API keys', content: <ApiKeys />, shown: isAdmin },
    { name: 'connections', label: 'Connections', content: <Connections />, shown: isMember },
    { name: 'destinations', label: 'Destinations', content: <Destinations /> },
    { name: 'ownership', label: 'Ownership', content: <Ownership /> },
    { name: 'webhooks', label: 'Webhooks', content: <Webhooks /> },
    { name: 'models', label: 'Models', content: <Models />, shown: isAdmin },
    { name: 'health', label: 'Health', content: <HealthChecks />, shown: isMember },
    { name: 'audit-log', label: 'Audit log', content: <AuditLog />, shown: isAdmin },
  ]
}

export const Settings = () => {
  const { part = 'profile' } = useParams({ strict: false })
  const parts = useParts()
  const chosen = parts.find(({ name }) => name === part)
  return (
    <Page title="Settings">
      <div className={styles.split}>
        <nav className={styles.nav} aria-label="Settings">
          {parts
            .filter(({ shown = true }) => shown)
            .map(({ name, label }) => (
              <Link
                key={name}
                ref={name === part ? shownInNav : undefined}
                to="/settings/$part"
                params={{ part: name }}
                aria-current={name === part ? 'page' : undefined}
              >
                {label}
              </Link>
            ))}
        </nav>
        <div key={part} className={styles.part}>
          {chosen?.shown === false ? (
            <Empty title={`You can’t view ${chosen.label}`}>
              <p>Ask an admin to change your role under Members.</p>
            </Empty>
          ) : (
            (chosen?.content ?? <Empty title="This page doesn’t exist" />)
          )}
        </div>
      </div>
    </Page>
  )
}
