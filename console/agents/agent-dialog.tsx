import { useState } from 'react'
import { useForm } from 'react-hook-form'
import { answer, api } from '../api/client.ts'
import { useNames } from '../api/names.ts'
import {
  TranscriptionFields,
  type TranscriptionValues,
  transcriptionBody,
  transcriptionValues,
} from '../settings/transcription-fields.tsx'
import { Chooser, ChooserOfOne } from '../ui/chooser.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Form, SelectField, TextField } from '../ui/form.tsx'
import { type Agent, channelNames, refreshAgents } from './queries.ts'

type Values = { name: string; channel: Agent['channel']; externalId: string } & TranscriptionValues

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
    },
  })
  const send = async ({ name, channel, externalId, ...rest }: Values) => {
    const named = { name: name.trim(), externalId: externalId.trim() || null }
    const body = { ...named, companyId, groupIds, ...transcriptionBody(rest) }
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
      <Form form={form} send={send} submit={agent ? 'Save' : 'Create agent'}>
        <TextField name="name" label="Name" required maxLength={255} />
        {!agent && (
          <SelectField
            name="channel"
            label="Channel"
            options={Object.entries(channelNames).map(([value, label]) => ({ value, label }))}
          />
        )}
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
      </Form>
    </Dialog>
  )
}
