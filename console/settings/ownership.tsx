import { useMutation } from '@tanstack/react-query'
import { ArrowDown, ArrowUp } from 'lucide-react'
import { useState } from 'react'
import { answer, api } from '../api/client.ts'
import { useNames } from '../api/names.ts'
import { useList } from '../api/queries.ts'
import { useMay } from '../api/session.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { ListTable } from '../ui/list-table.tsx'
import { Section } from '../ui/page.tsx'
import { Empty, FaultNote } from '../ui/states.tsx'
import type { Column } from '../ui/table.tsx'
import { OwnershipDialog } from './ownership-dialog.tsx'
import { destinationsOptions, type OwnershipRule, ownershipRulesOptions, refresh } from './queries.ts'
import styles from './settings.module.css'

type Names = Record<'agents' | 'companies', (id: string) => string>

/** Describes what a rule matches. */
const scopeWords = ({ agentIds, companyIds, tags }: OwnershipRule, { agents, companies }: Names): string => {
  const parts = [agentIds.map(agents).join(', '), companyIds.map(companies).join(', '), tags.join(', ')]
  return parts.filter((part) => part !== '').join(' · ') || 'Everything'
}

const Ways = ({ rule, isLast }: { rule: OwnershipRule; isLast: boolean }) => {
  const [dialog, setDialog] = useState<'edit' | 'delete'>()
  const { id, name, position } = rule
  const params = { path: { id } }
  const close = () => setDialog(undefined)
  const move = useMutation({
    mutationFn: (to: number) => answer(api.PATCH('/v1/ownership-rules/{id}', { params, body: { position: to } })),
    onSuccess: () => refresh('ownership-rules'),
  })
  return (
    <div className={styles.cellWays}>
      {move.error && <FaultNote error={move.error} />}
      <IconButton
        label={`Move ${name} up`}
        icon={<ArrowUp />}
        disabled={position === 1}
        onClick={() => move.mutate(position - 1)}
      />
      <IconButton
        label={`Move ${name} down`}
        icon={<ArrowDown />}
        disabled={isLast}
        onClick={() => move.mutate(position + 1)}
      />
      <Button small look="quiet" aria-label={`Edit ${name}`} onClick={() => setDialog('edit')}>
        Edit
      </Button>
      <Button small look="quiet" aria-label={`Delete ${name}`} onClick={() => setDialog('delete')}>
        Delete
      </Button>
      {dialog === 'edit' && <OwnershipDialog rule={rule} onClose={close} />}
      <Confirm
        title={`Delete “${name}”?`}
        action="Delete rule"
        open={dialog === 'delete'}
        onClose={close}
        run={async () => {
          await api.DELETE('/v1/ownership-rules/{id}', { params })
          await refresh('ownership-rules')
        }}
      >
        Findings and incidents will keep their owners.
      </Confirm>
    </div>
  )
}

export const Ownership = () => {
  const [adding, setAdding] = useState(false)
  const mayWrite = useMay('member')
  const list = useList(ownershipRulesOptions)
  const names = { agents: useNames('agents').nameOf, companies: useNames('companies').nameOf }
  const members = useNames('members')
  const destinations = useList(destinationsOptions)
  const destinationName = (id: string) => destinations.rows?.find((each) => each.id === id)?.name ?? id.slice(0, 8)
  const columns: Column<OwnershipRule>[] = [
    { key: 'name', label: 'Rule', cell: ({ position, name }) => `${position}. ${name}` },
    { key: 'scope', label: 'Matches', from: 720, cell: (rule) => scopeWords(rule, names) },
    {
      key: 'owner',
      label: 'Owner',
      from: 480,
      cell: ({ ownerUserId }) => (ownerUserId === null ? 'Nobody' : members.nameOf(ownerUserId)),
    },
    {
      key: 'destinations',
      label: 'Destinations',
      from: 960,
      cell: ({ destinationIds }) => destinationIds.map(destinationName).join(', '),
    },
    ...(mayWrite
      ? [
          {
            key: 'ways',
            label: '',
            cell: (rule: OwnershipRule) => <Ways rule={rule} isLast={rule.id === list.rows?.at(-1)?.id} />,
          },
        ]
      : []),
  ]
  const add = mayWrite && (
    <Button look="primary" onClick={() => setAdding(true)}>
      Create rule
    </Button>
  )
  return (
    <Section
      title="Ownership"
      context="Choose who is in charge of new findings and incidents. The first matching rule decides."
      actions={list.rows?.length !== 0 && add}
    >
      <ListTable
        list={list}
        label="Ownership rules"
        columns={columns}
        empty={
          <Empty title="No ownership rules yet" action={add}>
            <p>
              A rule assigns findings and incidents for an agent, company, or tag to a member, and sends incidents to
              destinations.
            </p>
          </Empty>
        }
      />
      {adding && <OwnershipDialog onClose={() => setAdding(false)} />}
    </Section>
  )
}
