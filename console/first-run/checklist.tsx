import { useQuery } from '@tanstack/react-query'
import { Link, type LinkProps } from '@tanstack/react-router'
import { Check, X } from 'lucide-react'
import { useEffect, useState } from 'react'
import { answer, api } from '../api/client.ts'
import { useMay, useMe } from '../api/session.ts'
import { enabledMonitorsOptions } from '../overview/queries.ts'
import { IconButton } from '../ui/button.tsx'
import styles from './checklist.module.css'

/** Returns the organization's completed steps, or undefined until all of them are known. */
const useProgress = (isEnabled: boolean) => {
  const monitors = useQuery({ ...enabledMonitorsOptions, enabled: isEnabled })
  const first = monitors.data?.data[0]?.id
  const scored = useQuery({
    queryKey: ['first-run', 'scored', first],
    queryFn: ({ signal }) => {
      const filter = { monitors: [{ id: first ?? '', result: 'all' as const }] }
      return answer(api.POST('/v1/conversations/search', { body: { filter, limit: 1 }, signal }))
    },
    enabled: isEnabled && first !== undefined,
  })
  const rules = useQuery({
    queryKey: ['first-run', 'rules'],
    queryFn: ({ signal }) => answer(api.GET('/v1/alert-rules', { params: { query: { limit: 1 } }, signal })),
    enabled: isEnabled,
  })
  const members = useQuery({
    queryKey: ['first-run', 'members'],
    queryFn: ({ signal }) => answer(api.GET('/v1/members', { params: { query: { limit: 2 } }, signal })),
    enabled: isEnabled,
  })
  if (!monitors.data || !rules.data || !members.data || (first !== undefined && !scored.data)) return undefined
  return {
    hasMonitor: first !== undefined,
    hasResult: (scored.data?.data.length ?? 0) > 0,
    hasRule: rules.data.data.length > 0,
    hasColleague: members.data.data.length > 1,
  }
}

type Step = { words: string; link: LinkProps; isDone: boolean }

const stepsOf = (
  { hasMonitor, hasResult, hasRule, hasColleague }: NonNullable<ReturnType<typeof useProgress>>,
  { isAdmin, hasMonitors }: { isAdmin: boolean; hasMonitors: boolean },
): Step[] => [
  { words: 'Send a conversation', link: { to: '/conversations', search: {} }, isDone: true },
  ...(hasMonitors
    ? [
        { words: 'Create a monitor', link: { to: '/monitors/new', search: {} }, isDone: hasMonitor } satisfies Step,
        { words: 'See the first results', link: { to: '/monitors' }, isDone: hasResult } satisfies Step,
      ]
    : []),
  { words: 'Get an alert when something changes', link: { to: '/alerts/rules/new', search: {} }, isDone: hasRule },
  ...(isAdmin
    ? [
        {
          words: 'Invite a colleague',
          link: { to: '/settings/$part', params: { part: 'members' }, search: {} },
          isDone: hasColleague,
        } satisfies Step,
      ]
    : []),
]

/** Shows the first steps. After all are done, or after someone closes them, they never appear again. */
export const Checklist = () => {
  const { member, entitlements } = useMe()
  const key = `earshot-checklist:${member.userId}`
  const [isOver, setIsOver] = useState(() => localStorage.getItem(key) === 'over')
  const mayWrite = useMay('member')
  const isAdmin = useMay('admin')
  const isShown = mayWrite && !isOver
  const progress = useProgress(isShown)
  const steps = progress ? stepsOf(progress, { isAdmin, hasMonitors: entitlements.monitors }) : []
  const left = steps.filter(({ isDone }) => !isDone).length
  const isComplete = progress !== undefined && left === 0
  useEffect(() => {
    if (isComplete) localStorage.setItem(key, 'over')
  }, [isComplete, key])
  if (!isShown || !progress || isComplete) return null
  const close = () => {
    localStorage.setItem(key, 'over')
    setIsOver(true)
  }
  return (
    <section className={styles.checklist} aria-label="First steps">
      <div className={styles.head}>
        <h2>First steps</h2>
        <span className={styles.soft}>
          {steps.length - left} of {steps.length} done
        </span>
        <span className={styles.close}>
          <IconButton label="Close first steps" icon={<X />} onClick={close} />
        </span>
      </div>
      <ol>
        {steps.map(({ words, link, isDone }) => (
          <li key={words} className={isDone ? styles.done : undefined}>
            <span className={styles.mark} aria-hidden="true">
              {isDone && <Check />}
            </span>
            {isDone ? (
              <span>
                {words}
                <span className={styles.hidden}> (done)</span>
              </span>
            ) : (
              <Link {...link}>{words}</Link>
            )}
          </li>
        ))}
      </ol>
    </section>
  )
}
