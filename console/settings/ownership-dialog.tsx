import { useState } from 'react'
import { useForm } from 'react-hook-form'
import { answer, api } from '../api/client.ts'
import { useNames } from '../api/names.ts'
import { useList } from '../api/queries.ts'
import { splitList } from '../lib/split-list.ts'
import { Chooser, ChooserOfOne } from '../ui/chooser.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Form, TextField } from '../ui/form.tsx'
import { destinationsOptions, type OwnershipRule, refresh } from './queries.ts'

/** Creates an ownership rule, or edits the given one. */
export const OwnershipDialog = ({ rule, onClose }: { rule?: OwnershipRule; onClose: () => void }) => {
  const [agentIds, setAgentIds] = useState(rule?.agentIds ?? [])
  const [companyIds, setCompanyIds] = useState(rule?.companyIds ?? [])
  const [ownerUserId, setOwnerUserId] = useState(rule?.ownerUserId ?? null)
  const [destinationIds, setDestinationIds] = useState(rule?.destinationIds ?? [])
  const agents = useNames('agents')
  const companies = useNames('companies')
  const members = useNames('members')
  const destinations = useList(destinationsOptions)
  const form = useForm({ defaultValues: { name: rule?.name ?? '', tags: rule?.tags.join(', ') ?? '' } })
  const send = async ({ name, tags }: { name: string; tags: string }) => {
    const body = { name: name.trim(), tags: splitList(tags), agentIds, companyIds, ownerUserId, destinationIds }
    if (rule) await answer(api.PATCH('/v1/ownership-rules/{id}', { params: { path: { id: rule.id } }, body }))
    else await answer(api.POST('/v1/ownership-rules', { body }))
    await refresh('ownership-rules')
    onClose()
  }
  return (
    <Dialog title={rule ? 'Edit ownership rule' : 'Create ownership rule'} open onClose={onClose} holds>
      <Form
        form={form}
        send={send}
        submit={rule ? 'Save' : 'Create rule'}
        fieldOf={(path) => path.replace(/\[\d+\]$/, '')}
      >
        <TextField name="name" label="Name" required maxLength={100} />
        <Chooser
          label="Agents"
          options={agents.options}
          value={agentIds}
          onChange={setAgentIds}
          placeholder="Any agent"
        />
        <Chooser
          label="Companies"
          options={companies.options}
          value={companyIds}
          onChange={setCompanyIds}
          placeholder="Any company"
        />
        <TextField
          name="tags"
          label="Finding tags"
          placeholder="Any tag"
          hint="Separate tags with commas. A finding needs one of them."
        />
        <ChooserOfOne label="Owner" options={members.options} value={ownerUserId} onChange={setOwnerUserId} />
        <Chooser
          label="Destinations"
          hint="Incidents are sent here in addition to the alert rule’s destinations."
          options={(destinations.rows ?? []).map(({ id, name }) => ({ value: id, label: name }))}
          value={destinationIds}
          onChange={setDestinationIds}
        />
      </Form>
    </Dialog>
  )
}
