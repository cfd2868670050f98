import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { Check } from 'lucide-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { answer, api } from '../api/client.ts'
import { queryClient } from '../api/queries.ts'
import { useMay, useMe } from '../api/session.ts'
import { sendingLines } from '../conversations/how-to-send.tsx'
import { plural } from '../lib/format.ts'
import { announce } from '../ui/announce.tsx'
import { Button, ButtonLink } from '../ui/button.tsx'
import { Code } from '../ui/copy.tsx'
import { Page } from '../ui/page.tsx'
import { ShownOnce } from '../ui/shown-once.tsx'
import { FaultNote } from '../ui/states.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { javascriptSample, pythonSample } from './samples.ts'
import { readStartSearch } from './search.ts'
import styles from './start.module.css'

const Step = ({
  number,
  title,
  done,
  children,
}: {
  number: number
  title: string
  done: boolean
  children: ReactNode
}) => (
  <li className={done ? `${styles.step} ${styles.done}` : styles.step}>
    <div className={styles.mark} aria-hidden="true">
      <span className={styles.number}>{done ? <Check /> : number}</span>
    </div>
    <section className={styles.body} aria-label={title}>
      <h2>{title}</h2>
      {children}
    </section>
  </li>
)

const KeyStep = ({ secret, onMade }: { secret: string | undefined; onMade: (secret: string) => void }) => {
  const isAdmin = useMay('admin')
  const make = useMutation({
    mutationFn: () => answer(api.POST('/v1/api-keys', { body: { name: 'First steps', role: 'member' } })),
    // The key is only kept while the page is open.
    gcTime: 0,
    onSuccess: async ({ key }) => {
      onMade(key)
      await queryClient.invalidateQueries({ queryKey: ['api-keys'] })
    },
  })
  if (!isAdmin) {
    return (
      <p className={styles.soft}>
        Only admins can create API keys. Ask an admin for one, then replace $EARSHOT_KEY below.
      </p>
    )
  }
  if (secret !== undefined) {
    return (
      <ShownOnce name="key" value={secret}>
        Copy this key now. You won’t see it again. It can create conversations. You can revoke it under{' '}
        <Link to="/settings/$part" params={{ part: 'api-keys' }}>
          API keys
        </Link>
        .
      </ShownOnce>
    )
  }
  return (
    <>
      <p className={styles.soft}>Your code uses the key to send conversations. The examples below will include it.</p>
      {make.error && <FaultNote error={make.error} />}
      <div>
        <Button look="primary" busy={make.isPending} onClick={() => make.mutate()}>
          Create API key
        </Button>
      </div>
    </>
  )
}

/** Opens the next conversation when it arrives. */
const Waiting = () => {
  const navigate = useNavigate()
  const before = useRef<number>(undefined)
  const { data, error } = useQuery({
    queryKey: ['first-run', 'count'],
    queryFn: ({ signal }) => answer(api.POST('/v1/conversations/count', { body: { filter: {} }, signal })),
    staleTime: 0,
    gcTime: 0,
  })
  const count = data?.count
  useEffect(() => {
    if (count === undefined) return
    if (before.current === undefined || count <= before.current) {
      before.current = count
      return
    }
    const go = async () => {
      const newest = await answer(api.POST('/v1/conversations/search', { body: { filter: {}, limit: 1 } }))
      const id = newest.data[0]?.id
      announce('Conversation received')
      if (id) await navigate({ to: '/conversations/$id', params: { id }, search: {} })
      await queryClient.invalidateQueries({ queryKey: ['conversations'] })
    }
    // If the latest conversation can't be loaded, the list shows it.
    go().catch(() => navigate({ to: '/conversations', search: {} }))
  }, [count, navigate])
  if (error && count === undefined) return <FaultNote error={error} />
  return (
    <div className={styles.waiting} role="status">
      <span className={styles.pulse} aria-hidden="true" />
      <span>{count ? 'Waiting for the next conversation' : 'Waiting for the first conversation'}</span>
      {count !== undefined && count > 0 && (
        <Link to="/conversations" search={{}}>
          View {plural(count, 'conversation')}
        </Link>
      )}
    </div>
  )
}

const SendStep = ({ secret = '$EARSHOT_KEY' }: { secret: string | undefined }) => {
  const { way = 'curl' } = useSearch({ from: '/app/start' })
  const navigate = useNavigate({ from: '/start' })
  const mayConnect = useMay('admin')
  const [startedAt] = useState(() => new Date().toISOString())
  const { origin } = location
  return (
    <>
      <Tabs
        label="Send with"
        value={way}
        onChange={(next) => void navigate({ search: readStartSearch({ way: next }), replace: true })}
        tabs={[
          { value: 'curl', label: 'curl', content: <Code>{sendingLines(origin, secret)}</Code> },
          {
            value: 'javascript',
            label: 'JavaScript',
            content: <Code>{javascriptSample(origin, secret, startedAt)}</Code>,
          },
          { value: 'python', label: 'Python', content: <Code>{pythonSample(origin, secret, startedAt)}</Code> },
          {
            value: 'provider',
            label: 'Provider webhook',
            content: (
              <div className={styles.body}>
                <p>
                  Vapi, Retell, ElevenLabs, Twilio, and LiveKit can send conversations automatically. Create a
                  connection, set its webhook URL in the platform, then make a call.
                </p>
                <div>
                  {mayConnect ? (
                    <ButtonLink to="/settings/$part" params={{ part: 'connections' }}>
                      Create connection
                    </ButtonLink>
                  ) : (
                    <p className={styles.soft}>Only admins can create connections.</p>
                  )}
                </div>
              </div>
            ),
          },
        ]}
      />
      <Waiting />
    </>
  )
}

export const Start = () => {
  const { member, organization } = useMe()
  const [secret, setSecret] = useState<string>()
  return (
    <Page
      title={`Welcome, ${member.name}`}
      context="Send your first conversation in three steps"
      actions={<ButtonLink to="/">Go to overview</ButtonLink>}
    >
      <ol className={styles.steps}>
        <Step number={1} title="Create your account" done>
          <p className={styles.soft}>
            You’re a member of {organization.name} and sign in as {member.email}.
          </p>
        </Step>
        <Step number={2} title="Create an API key" done={secret !== undefined}>
          <KeyStep secret={secret} onMade={setSecret} />
        </Step>
        <Step number={3} title="Send a conversation" done={false}>
          <SendStep secret={secret} />
          <p className={styles.soft}>
            Nothing to send yet? Explore Earshot with demo data. Run this in a checkout of Earshot’s source code:
          </p>
          <Code>npm run demo</Code>
        </Step>
      </ol>
    </Page>
  )
}
