import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useForm } from 'react-hook-form'
import { answer, api } from '../api/client.ts'
import type { Schemas } from '../api/schema.d.ts'
import { useMay } from '../api/session.ts'
import { useCount } from '../filters/count.ts'
import { formatCount, formatMoney, plural } from '../lib/format.ts'
import { announce } from '../ui/announce.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { CheckField, Form, TextField } from '../ui/form.tsx'
import { LeaveGuard } from '../ui/leave-guard.tsx'
import { Facts, Section } from '../ui/page.tsx'
import { Await } from '../ui/states.tsx'
import { organizationOptions, refresh } from './queries.ts'
import styles from './settings.module.css'

type Own = Schemas['OwnOrganization']
type Values = { name: string; retentionDays: string; redaction: boolean; monthlyJudgeBudget: string }

const dayMs = 86_400_000

const numberOf = (text: string) => (text.trim() === '' ? null : Number(text))

const bodyOf = ({ name, retentionDays, redaction, monthlyJudgeBudget }: Values) => ({
  name: name.trim(),
  retentionDays: numberOf(retentionDays),
  redaction,
  monthlyJudgeBudget: numberOf(monthlyJudgeBudget),
})

/** What a shorter retention takes away, now. */
const Going = ({ days }: { days: number }) => {
  const [until] = useState(() => new Date(Date.now() - days * dayMs).toISOString())
  const { data } = useCount({ until })
  return (
    <>
      <p>
        Conversations older than {plural(days, 'day')} are erased within the hour, with their transcripts, recordings,
        results and reviews, and so is each one that becomes as old.
      </p>
      <p>
        {data ? <strong>{plural(data.count, 'conversation')} would go now.</strong> : 'Counting what would go now…'}{' '}
        Nothing brings them back.
      </p>
    </>
  )
}

const OrganizationForm = ({ organization }: { organization: Own }) => {
  const { retentionDays, monthlyJudgeBudget, features } = organization
  const [asked, setAsked] = useState<Values>()
  const form = useForm<Values>({
    defaultValues: {
      name: organization.name,
      retentionDays: retentionDays === null ? '' : String(retentionDays),
      redaction: organization.redaction,
      monthlyJudgeBudget: monthlyJudgeBudget === null ? '' : String(monthlyJudgeBudget),
    },
  })
  const { isDirty } = form.formState
  const save = async (values: Values) => {
    await answer(api.PATCH('/v1/organization', { body: bodyOf(values) }))
    form.reset(values)
    await Promise.all([refresh('organization'), refresh('me')])
    announce('The settings are saved')
  }
  const send = async (values: Values) => {
    for (const field of ['retentionDays', 'monthlyJudgeBudget'] as const) {
      if (!Number.isNaN(numberOf(values[field]))) continue
      form.setError(field, { message: 'Give a number, or leave it empty.' }, { shouldFocus: true })
      return
    }
    const days = numberOf(values.retentionDays)
    const erases = days !== null && days >= 1 && (retentionDays === null || days < retentionDays)
    if (erases) setAsked(values)
    else await save(values)
  }
  const days = numberOf(asked?.retentionDays ?? '')
  return (
    <>
      <LeaveGuard isDirty={() => isDirty} />
      <Form form={form} send={send} submit="Save">
        <TextField name="name" label="Name" required maxLength={255} />
        <TextField
          name="retentionDays"
          label="Keep conversations for (days)"
          inputMode="numeric"
          placeholder="Without end"
          hint="Older ones are erased for good. Empty keeps them without end."
        />
        {features.phiMode && (
          <CheckField
            name="redaction"
            label="Redact before storing"
            hint="Takes e-mail addresses, phone, card and social-security numbers out of what comes in from now on."
          />
        )}
        <TextField
          name="monthlyJudgeBudget"
          label="Budget of model judges (US dollars a month)"
          inputMode="decimal"
          placeholder="Without bound"
          hint="When it is spent, judging stands still until the next month or a greater budget."
        />
      </Form>
      <Confirm
        title="Erase older conversations?"
        action="Erase and save"
        open={days !== null}
        typed={organization.name}
        onClose={() => setAsked(undefined)}
        run={async () => {
          if (asked) await save(asked)
        }}
      >
        {days !== null && <Going days={days} />}
      </Confirm>
    </>
  )
}

const OrganizationFacts = ({ name, retentionDays, redaction, features, monthlyJudgeBudget }: Own) => (
  <Facts
    facts={[
      ['Name', name],
      ['Conversations are kept', retentionDays === null ? 'Without end' : `For ${plural(retentionDays, 'day')}`],
      ...(features.phiMode ? ([['Redaction', redaction ? 'On' : 'Off']] as [string, string][]) : []),
      [
        'Budget of model judges',
        monthlyJudgeBudget === null ? 'Without bound' : `${formatMoney(monthlyJudgeBudget)} a month`,
      ],
    ]}
  />
)

export const Organization = () => {
  const isAdmin = useMay('admin')
  const query = useQuery(organizationOptions)
  return (
    <Await query={query}>
      {(organization) => {
        const { month, judgements, cost, inputTokens, outputTokens, budgetLeft } = organization.judgeSpending
        return (
          <>
            <Section title="Organization">
              {isAdmin ? (
                <OrganizationForm key={organization.updatedAt} organization={organization} />
              ) : (
                <OrganizationFacts {...organization} />
              )}
            </Section>
            <Section title="Model judges this month" context={month}>
              <Facts
                facts={[
                  ['Judgements', formatCount(judgements)],
                  ['Cost', formatMoney(cost)],
                  ['Left of the budget', budgetLeft === null ? 'Without bound' : formatMoney(budgetLeft)],
                  ['Tokens in and out', `${formatCount(inputTokens)} · ${formatCount(outputTokens)}`],
                ]}
              />
            </Section>
            <p className={styles.soft} hidden={isAdmin}>
              Admins of your organization change these.
            </p>
          </>
        )
      }}
    </Await>
  )
}
