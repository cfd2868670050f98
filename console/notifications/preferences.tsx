import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { answer, api } from '../api/client.ts'
import { queryClient } from '../api/queries.ts'
import { weekdays } from '../export-schedules/words.tsx'
import { zones } from '../exports/fields.tsx'
import { ownZone } from '../lib/zones.ts'
import { announce } from '../ui/announce.tsx'
import { Button } from '../ui/button.tsx'
import { ChooserOfOne } from '../ui/chooser.tsx'
import { Check, Choice, Field, Input, Row, Select } from '../ui/controls.tsx'
import { Section } from '../ui/page.tsx'
import { Await, FaultNote } from '../ui/states.tsx'
import { canNotify, isNotifying, startNotifying, stopNotifying } from './browser.ts'
import { emailTimes, kinds, kindWords } from './kinds.ts'
import styles from './notifications.module.css'
import { type Preferences, preferencesOptions } from './queries.ts'

type Kind = (typeof kinds)[number]
type Channels = Preferences['kinds'][Kind]

const KindFields = ({
  kind,
  channels,
  change,
}: {
  kind: Kind
  channels: Channels
  change: (part: Partial<Channels>) => void
}) => {
  const { label, hint } = kindWords[kind]
  return (
    <fieldset className={styles.channels}>
      <legend>{label}</legend>
      <p className={styles.hint}>{hint}</p>
      <div className={styles.pair}>
        <Check
          label="In the console"
          checked={channels.console}
          onChange={({ target }) => change({ console: target.checked })}
        />
        <Select
          aria-label={`Email about ${label.toLowerCase()}`}
          value={channels.email}
          options={emailTimes}
          // The options are the only possible values.
          onChange={({ target }) => change({ email: target.value as Channels['email'] })}
        />
      </div>
    </fieldset>
  )
}

const scopes = [
  { value: 'owned', label: 'Incidents I own' },
  { value: 'all', label: 'All incidents' },
]

const summaries = [
  { value: 'off', label: 'Off' },
  { value: 'daily', label: 'Daily' },
  { value: 'weekly', label: 'Weekly' },
]

const Digest = ({
  digest,
  change,
}: {
  digest: Preferences['digest']
  change: (part: Partial<Preferences['digest']>) => void
}) => (
  <Section title="Digest" context="An email with a summary and the notifications you choose">
    <div className={styles.form}>
      <Choice
        label="Organization summary"
        value={digest.summary}
        options={summaries}
        onChange={(summary) => change({ summary: summary as Preferences['digest']['summary'] })}
      />
      <p className={styles.hint}>
        Monitors that changed, new findings, incidents, review progress, and experiments. If nothing happened, no email
        is sent.
      </p>
      <Row>
        <Field label="Time">
          {(ids) => (
            <Input
              {...ids}
              type="time"
              required
              value={digest.time}
              onChange={({ target }) => change({ time: target.value })}
            />
          )}
        </Field>
        <Field label="Weekday" hint="For the weekly digest">
          {(ids) => (
            <Select
              {...ids}
              value={digest.weekday}
              options={weekdays}
              onChange={({ target }) => change({ weekday: target.value as Preferences['digest']['weekday'] })}
            />
          )}
        </Field>
      </Row>
      <ChooserOfOne
        label="Time zone"
        options={zones}
        value={digest.timezone}
        onChange={(timezone) => change({ timezone: timezone ?? ownZone() })}
      />
    </div>
  </Section>
)

/** Shows a setting that only applies to this browser, so it is not stored with the other preferences. */
const BrowserNotifications = () => {
  const [isOn, setIsOn] = useState(isNotifying)
  const [isDenied, setIsDenied] = useState(false)
  const start = async () => {
    const isAllowed = await startNotifying()
    setIsOn(isAllowed)
    setIsDenied(!isAllowed)
  }
  const stop = () => {
    stopNotifying()
    setIsOn(false)
  }
  return (
    <Section title="Browser notifications" context="In this browser, while Earshot is open">
      <div className={styles.form}>
        <div className={styles.send}>
          {isOn ? (
            <Button onClick={stop}>Turn off</Button>
          ) : (
            <Button disabled={!canNotify()} onClick={() => void start()}>
              Turn on
            </Button>
          )}
          <span className={styles.soft} role="status">
            {isOn && 'On'}
            {isDenied && 'Your browser blocks notifications from this site. Allow them in its settings.'}
            {!canNotify() && 'Your browser only allows notifications over HTTPS.'}
          </span>
        </div>
      </div>
    </Section>
  )
}

const PreferencesForm = ({ stored }: { stored: Preferences }) => {
  const [draft, setDraft] = useState(stored)
  const { kinds: chosen, digest } = draft
  const save = useMutation({
    mutationFn: () => answer(api.PUT('/v1/notification-preferences', { body: draft })),
    onSuccess: (saved) => {
      queryClient.setQueryData(preferencesOptions.queryKey, saved)
      announce('Preferences saved')
    },
  })
  const changeKind = (kind: Kind, part: Partial<Channels>) =>
    setDraft({ ...draft, kinds: { ...chosen, [kind]: { ...chosen[kind], ...part } } })
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (!save.isPending) save.mutate()
      }}
    >
      <Section title="My notifications" context="What you receive, and how">
        <div className={styles.form}>
          <div>
            {kinds.map((kind) => (
              <KindFields key={kind} kind={kind} channels={chosen[kind]} change={(part) => changeKind(kind, part)} />
            ))}
          </div>
          <Choice
            label="Notify me of"
            value={draft.incidents}
            options={scopes}
            onChange={(incidents) => setDraft({ ...draft, incidents: incidents as Preferences['incidents'] })}
          />
        </div>
      </Section>
      <Digest digest={digest} change={(part) => setDraft({ ...draft, digest: { ...digest, ...part } })} />
      <div className={styles.form}>
        {save.error && <FaultNote error={save.error} />}
        <div>
          <Button type="submit" look="primary" busy={save.isPending}>
            Save preferences
          </Button>
        </div>
      </div>
    </form>
  )
}

export const NotificationPreferences = () => {
  const query = useQuery(preferencesOptions)
  return (
    <>
      <Await query={query}>{(stored) => <PreferencesForm stored={stored} />}</Await>
      <BrowserNotifications />
    </>
  )
}
