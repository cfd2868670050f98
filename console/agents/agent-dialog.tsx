import { useState } from 'react'
import { type UseFormReturn, useForm, useWatch } from 'react-hook-form'
import { answer, api } from '../api/client.ts'
import { useNames } from '../api/names.ts'
import { useMay } from '../api/session.ts'
import {
  TranscriptionFields,
  type TranscriptionValues,
  transcriptionBody,
  transcriptionValues,
} from '../settings/transcription-fields.tsx'
import { Chooser, ChooserOfOne } from '../ui/chooser.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Form, SelectField, TextField } from '../ui/form.tsx'
import { type Agent, channelNames, keepNames, redactionNames, refreshAgents } from './queries.ts'

type Values = {
  name: string
  channel: Agent['channel']
  externalId: string
  keep: Agent['recordings']['keep']
  days: string
  redaction: keyof typeof redactionNames
} & TranscriptionValues

const optionsOf = (names: Record<string, string>) => Object.entries(names).map(([value, label]) => ({ value, label }))

const policyOf = ({ keep, days, redaction }: Pick<Values, 'keep' | 'days' | 'redaction'>) => ({
  keep,
  days: keep === 'days' ? Number(days) : null,
  redaction: redaction === '' ? null : redaction,
})

/** Chooses the policy for the agent's recordings. */
const RecordingFields = ({ form }: { form: UseFormReturn<Values> }) => {
  const keep = useWatch({ control: form.control, name: 'keep' })
  return (
    <>
      <SelectField
        name="keep"
        label="Recordings"
        hint="Also applies to existing recordings. Deleted recordings can’t be restored, but their measures are kept."
        options={optionsOf(keepNames)}
      />
      {keep === 'days' && (
        <TextField
          name="days"
          label="Delete recordings after (days)"
          inputMode="numeric"
          required
          hint="Counted from the conversation’s start."
        />
      )}
      <SelectField name="redaction" label="Recording redaction" options={optionsOf(redactionNames)} />
    </>
  )
}

/** Creates an agent, or edits the given one. */
export const AgentDialog = ({
  agent,
  onClose,
  onSaved,
}: {
  agent?: Agent
  onClose: () => void
  onSaved?: (agent: Agent) => void
}) => {
  const isAdmin = useMay('admin')
  const companies = useNames('companies')
  const groups = useNames('agentGroups')
  const [companyId, setCompanyId] = useState(agent?.companyId ?? null)
  const [groupIds, setGroupIds] = useState(agent?.groupIds ?? [])
  const form = useForm<Values>({
    defaultValues: {
      name: agent?.name ?? '',
      channel: agent?.channel ?? 'voice',
      externalId: agent?.externalId ?? '',
      ...transcriptionValues(agent),
      keep: agent?.recordings.keep ?? 'all',
      days: String(agent?.recordings.days ?? ''),
      redaction: agent?.recordings.redaction ?? '',
    },
  })
  const send = async ({ name, channel, externalId, keep, days, redaction, ...rest }: Values) => {
    const recordings = isAdmin ? { recordings: policyOf({ keep, days, redaction }) } : {}
    const named = { name: name.trim(), externalId: externalId.trim() || null }
    const body = { ...named, companyId, groupIds, ...recordings, ...transcriptionBody(rest) }
    const saved = await answer(
      agent
        ? api.PATCH('/v1/agents/{id}', { params: { path: { id: agent.id } }, body })
        : api.POST('/v1/agents', { body: { ...body, channel } }),
    )
    await refreshAgents()
    onClose()
    onSaved?.(saved)
  }
  return (
    <Dialog title={agent ? 'Edit agent' : 'Create agent'} open holds onClose={onClose}>
      <Form
        form={form}
        send={send}
        submit={agent ? 'Save' : 'Create agent'}
        fieldOf={(path) => path.replace('recordings.', '')}
      >
        <TextField name="name" label="Name" required maxLength={255} />
        {!agent && <SelectField name="channel" label="Channel" options={optionsOf(channelNames)} />}
        <TextField
          name="externalId"
          label="External ID"
          maxLength={255}
          hint="The ID your requests use for this agent (agentExternalId)."
        />
        <ChooserOfOne
          label="Company"
          options={companies.options}
          value={companyId}
          onChange={setCompanyId}
          placeholder="None"
        />
        <Chooser label="Groups" options={groups.options} value={groupIds} onChange={setGroupIds} placeholder="None" />
        <TranscriptionFields ofAgent />
        {isAdmin && <RecordingFields form={form} />}
      </Form>
    </Dialog>
  )
}
