import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { ChevronsUpDown } from 'lucide-react'
import { useState } from 'react'
import { answer, api } from '../api/client.ts'
import { asFault } from '../api/fault.ts'
import { queryClient } from '../api/queries.ts'
import { useMe } from '../api/session.ts'
import { announce } from '../ui/announce.tsx'
import { Menu } from '../ui/menu.tsx'
import styles from './person.module.css'
import { applyTheme, readTheme, type Theme } from './theme.ts'

const nextTheme: Record<Theme, Theme> = { system: 'light', light: 'dark', dark: 'system' }

/** Shows the signed-in member and organization, with a menu to switch organization or sign out. */
export const Person = ({ folded }: { folded: boolean }) => {
  const { member, organization } = useMe()
  const navigate = useNavigate()
  // Only the menu needs the organizations, so they load when someone is about to open it.
  const [isNear, setIsNear] = useState(false)
  const comeNear = () => setIsNear(true)
  const joined = useQuery({
    queryKey: ['organizations'],
    queryFn: ({ signal }) => answer(api.GET('/auth/organizations', { signal })),
    enabled: isNear,
  })
  const others = (joined.data?.data ?? []).filter(({ id, suspended }) => id !== organization.id && !suspended)
  const switchTo = async (organizationId: string) => {
    try {
      await api.POST('/auth/organization', { body: { organizationId } })
      location.assign('/')
    } catch (error) {
      announce('You’re still in the same organization', asFault(error).message)
    }
  }
  const signOut = async () => {
    // If this fails, the next page shows whether the session still exists.
    await api.POST('/auth/sign-out', { body: {} }).catch(() => undefined)
    // The next person to sign in must not see this person's data.
    queryClient.clear()
    await navigate({ to: '/sign-in' })
  }
  const theme = readTheme()
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the handlers only preload the content of the menu
    <div className={styles.person} onPointerEnter={comeNear} onFocus={comeNear}>
      <Menu
        trigger={
          <button
            type="button"
            className={styles.trigger}
            {...(folded && { 'aria-label': `${member.name}, ${organization.name}` })}
          >
            <span className={styles.initial} aria-hidden="true">
              {(member.name || member.email).charAt(0).toUpperCase()}
            </span>
            {!folded && (
              <>
                <span className={styles.names}>
                  <span>{member.name}</span>
                  <span className={styles.organization}>{organization.name}</span>
                </span>
                <ChevronsUpDown aria-hidden="true" />
              </>
            )}
          </button>
        }
        entries={[
          { label: 'Profile', onSelect: () => void navigate({ to: '/settings/$part', params: { part: 'profile' } }) },
          { label: `Theme: ${theme}. Change to ${nextTheme[theme]}`, onSelect: () => applyTheme(nextTheme[theme]) },
          ...others.map(({ id, name }) => ({ label: `Switch to ${name}`, onSelect: () => void switchTo(id) })),
          { label: 'Guide', onSelect: () => location.assign('/docs/guide') },
          { label: 'API reference', onSelect: () => location.assign('/docs') },
          { label: 'Sign out', onSelect: () => void signOut() },
        ]}
      />
    </div>
  )
}
