import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useForm } from 'react-hook-form'
import { answer, api } from '../api/client.ts'
import type { Schemas } from '../api/schema.d.ts'
import { useMay } from '../api/session.ts'
import { useCount } from '../filters/count.ts'
import { formatCount, formatMoney, formatMonth, plural } from '../lib/format.ts'
import { announce } from '../ui/announce.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { CheckField, Form, SelectField, TextField } from '../ui/form.tsx'
import { LeaveGuard } from '../ui/leave-guard.tsx'
import { Facts, Section } from '../ui/page.tsx'
import { Await } from '../ui/states.tsx'
import { EmbeddingField, type EmbeddingValues } from './embedding-field.tsx'
import { organizationOptions, refresh } from './queries.ts'
import styles from './settings.module.css'
import { SoundRuns } from './sound-runs.tsx'
import {
  TranscriptionFields,
  type TranscriptionValues,
  transcriptionBody,
  transcriptionValues,
} from './transcription-fields.tsx'

type Own = Schemas['OwnOrganization']
type Values = {
  name: string
  retentionDays: string
  redaction: boolean
  measureSound: boolean
  soundToModels: boolean
  soundRedaction: '' | 'none' | 'mute' | 'beep'
  originalRecordings: Own['originalRecordings']
  monthlyJudgeBudget: string
} & TranscriptionValues &
  EmbeddingValues

const soundRedactions = [
  { value: '', label: 'Mute if text is redacted' },
  { value: 'none', label: 'None' },
  { value: 'mute', label: 'Mute' },
  { value: 'beep', label: 'Beep' },
] as const

const originals = [
  { value: 'delete', label: 'Delete' },
  { value: 'seal', label: 'Seal' },
] as const

const labelOf = (options: readonly { value: string; label: string }[], value: string): string =>
  options.find((option) => option.value === value)?.label ?? value

const dayMs = 86_400_000

const numberOf = (text: string) => (text.trim() === '' ? null : Number(text))

const bodyOf = ({
  name,
  retentionDays,
  redaction,
  measureSound,
  soundToModels,
  soundRedaction,
  originalRecordings,
  monthlyJudgeBudget,
  embeddingModel,
  ...rest
}: Values) => ({
  ...transcriptionBody(rest),
  embeddingModel: embeddingModel || null,
  name: name.trim(),
  retentionDays: numberOf(retentionDays),
  redaction,
  measureSound,
  soundToModels,
  soundRedaction: soundRedaction === '' ? null : soundRedaction,
  originalRecordings,
  monthlyJudgeBudget: numberOf(monthlyJudgeBudget),
})

/** Counts the conversations that a shorter retention period would erase immediately. */
const ErasureWarning = ({ days }: { days: number }) => {
  const [until] = useState(() => new Date(Date.now() - days * dayMs).toISOString())
  const { data } = useCount({ until })
  return (
    <>
      <p>
        Conversations older than {plural(days, 'day')} will be erased within an hour, with their transcripts,
        recordings, results, and reviews. From then on, each conversation is erased when it reaches that age.
      </p>
      <p>
        {data ? <strong>This erases {plural(data.count, 'conversation')} now.</strong> : 'Counting conversations…'} You
        can’t undo this.
      </p>
    </>
  )
}

const OrganizationForm = ({ organization }: { organization: Own }) => {
  const { retentionDays, monthlyJudgeBudget, features } = organization
  const [unconfirmed, setUnconfirmed] = useState<Values>()
  const form = useForm<Values>({
    defaultValues: {
      name: organization.name,
      retentionDays: retentionDays === null ? '' : String(retentionDays),
      redaction: organization.redaction,
      measureSound: organization.measureSound,
      soundToModels: organization.soundToModels,
      ...transcriptionValues(organization),
      embeddingModel: organization.embeddingModel ?? '',
      soundRedaction: organization.soundRedaction ?? '',
      originalRecordings: organization.originalRecordings,
      monthlyJudgeBudget: monthlyJudgeBudget === null ? '' : String(monthlyJudgeBudget),
    },
  })
  const { isDirty } = form.formState
  const save = async (values: Values) => {
    await answer(api.PATCH('/v1/organization', { body: bodyOf(values) }))
    form.reset(values)
    await Promise.all([refresh('organization'), refresh('me')])
    announce('Settings saved')
  }
  const send = async (values: Values) => {
    for (const field of ['retentionDays', 'monthlyJudgeBudget'] as const) {
      if (!Number.isNaN(numberOf(values[field]))) continue
      form.setError(field, { message: 'Enter a number or leave this empty.' }, { shouldFocus: true })
      return
    }
    const days = numberOf(values.retentionDays)
    const erases = days !== null && days >= 1 && (retentionDays === null || days < retentionDays)
    if (erases) setUnconfirmed(values)
    else await save(values)
  }
  const days = numberOf(unconfirmed?.retentionDays ?? '')
  return (
    <>
      <LeaveGuard isDirty={() => isDirty} />
      <Form form={form} send={send} submit="Save">
        <TextField name="name" label="Name" required maxLength={255} />
        <TextField
          name="retentionDays"
          label="Retention (days)"
          inputMode="numeric"
          placeholder="Unlimited"
          hint="Older conversations are permanently erased. Leave empty to keep all."
        />
        {features.phiMode && (
          <CheckField
            name="redaction"
            label="Redact before storing"
            hint="Removes email addresses and phone, card, and social security numbers from new conversations."
          />
        )}
        <CheckField
          name="measureSound"
          label="Measure recordings"
          hint="Measures response times, interruptions, levels, and faults in each stored recording."
        />
        <TranscriptionFields />
        {features.phiMode && (
          <CheckField
            name="soundToModels"
            label="Send recordings to models"
            hint="Lets your providers’ models transcribe recordings and judge them by sound."
          />
        )}
        <SelectField
          name="soundRedaction"
          label="Recording redaction"
          hint="Replaces redacted words in new recordings before anyone can play them."
          options={[...soundRedactions]}
        />
        <SelectField
          name="originalRecordings"
          label="Original recordings"
          hint="Admins can open a sealed original if they give a reason, which the audit log shows. Existing sealed originals stay until their recordings are deleted."
          options={[...originals]}
        />
        <EmbeddingField />
        <TextField
          name="monthlyJudgeBudget"
          label="Monthly LLM judge budget (US dollars)"
          inputMode="decimal"
          placeholder="Unlimited"
          hint="Once it’s spent, LLM judges, transcription, and embeddings by providers stop until next month or until you raise the budget."
        />
      </Form>
      <Confirm
        title="Erase older conversations?"
        action="Erase and save"
        open={days !== null}
        typed={organization.name}
        onClose={() => setUnconfirmed(undefined)}
        run={async () => {
          if (unconfirmed) await save(unconfirmed)
        }}
      >
        {days !== null && <ErasureWarning days={days} />}
      </Confirm>
    </>
  )
}

const OrganizationFacts = ({
  name,
  retentionDays,
  redaction,
  measureSound,
  soundRedaction,
  originalRecordings,
  features,
  monthlyJudgeBudget,
}: Own) => (
  <Facts
    facts={[
      ['Name', name],
      ['Retention', retentionDays === null ? 'Unlimited' : plural(retentionDays, 'day')],
      ...(features.phiMode ? ([['Redaction', redaction ? 'Enabled' : 'Disabled']] as [string, string][]) : []),
      ['Recordings', measureSound ? 'Measured' : 'Not measured'],
      ['Recording redaction', labelOf(soundRedactions, soundRedaction ?? '')],
      ['Original recordings', labelOf(originals, originalRecordings)],
      ['Monthly LLM judge budget', monthlyJudgeBudget === null ? 'Unlimited' : formatMoney(monthlyJudgeBudget)],
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
            <Section title="LLM judges this month" context={formatMonth(month)}>
              <Facts
                facts={[
                  ['Evaluations', formatCount(judgements)],
                  ['Cost', formatMoney(cost)],
                  ['Budget left', budgetLeft === null ? 'Unlimited' : formatMoney(budgetLeft)],
                  ['Input tokens', formatCount(inputTokens)],
                  ['Output tokens', formatCount(outputTokens)],
                ]}
              />
            </Section>
            {organization.measureSound && <SoundRuns />}
            <p className={styles.soft} hidden={isAdmin}>
              Only admins can change these settings.
            </p>
          </>
        )
      }}
    </Await>
  )
}
