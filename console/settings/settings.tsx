import { Link, useParams } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useMay } from '../api/session.ts'
import { Page } from '../ui/page.tsx'
import { Empty } from '../ui/states.tsx'
import { ApiKeys } from './api-keys.tsx'
import { AuditLog } from './audit-log.tsx'
import { Connections } from './connections.tsx'
import { Members } from './members.tsx'
import { Organization } from './organization.tsx'
import { Profile } from './profile.tsx'
import styles from './settings.module.css'
import { Webhooks } from './webhooks.tsx'

/** On narrow windows the parts stand in a row that scrolls. */
const shownInNav = (link: HTMLAnchorElement | null) => link?.scrollIntoView({ block: 'nearest', inline: 'center' })

type Part = { name: string; label: string; content: ReactNode; shown?: boolean }

const useParts = (): Part[] => {
  const isAdmin = useMay('admin')
  const isMember = useMay('member')
  return [
    { name: 'profile', label: 'Profile', content: <Profile /> },
    { name: 'organization', label: 'Organization', content: <Organization /> },
    { name: 'members', label: 'Members', content: <Members /> },
    { name: 'api-keys', label: 'API keys', content: <ApiKeys />, shown: isAdmin },
    { name: 'connections', label: 'Connections', content: <Connections />, shown: isMember },
    { name: 'webhooks', label: 'Webhooks', content: <Webhooks /> },
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
            <Empty title={`${chosen.label} are for those who manage them`}>
              <p>Your role does not show them. An admin of your organization can change it under Members.</p>
            </Empty>
          ) : (
            (chosen?.content ?? <Empty title="There is no such part of the settings" />)
          )}
        </div>
      </div>
    </Page>
  )
}
