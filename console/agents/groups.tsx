import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useForm } from 'react-hook-form'
import { answer, api } from '../api/client.ts'
import { useList } from '../api/queries.ts'
import { useMay } from '../api/session.ts'
import { CountLink } from '../filters/count-link.tsx'
import { announce } from '../ui/announce.tsx'
import { Button } from '../ui/button.tsx'
import { Confirm, Dialog } from '../ui/dialog.tsx'
import { Form, TextField } from '../ui/form.tsx'
import { ListTable } from '../ui/list-table.tsx'
import { Empty } from '../ui/states.tsx'
import type { Column } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import styles from './agents.module.css'
import { type AgentGroup, groupsOptions, refreshAgents, refreshGroups } from './queries.ts'

/** Creates a group, or renames the given one. */
export const GroupDialog = ({ group, onClose }: { group?: AgentGroup; onClose: () => void }) => {
  const form = useForm({ defaultValues: { name: group?.name ?? '' } })
  const send = async ({ name }: { name: string }) => {
    const body = { name: name.trim() }
    await answer(
      group
        ? api.PATCH('/v1/agent-groups/{id}', { params: { path: { id: group.id } }, body })
        : api.POST('/v1/agent-groups', { body }),
    )
    await refreshGroups()
    onClose()
  }
  return (
    <Dialog title={group ? 'Rename group' : 'Create group'} open onClose={onClose}>
      <Form form={form} send={send} submit={group ? 'Save' : 'Create group'}>
        <TextField name="name" label="Name" required maxLength={255} />
      </Form>
    </Dialog>
  )
}

type OpenDialog = { what: 'rename' | 'delete'; group: AgentGroup }

export const Groups = () => {
  const mayWrite = useMay('member')
  const [dialog, setDialog] = useState<OpenDialog>()
  const list = useList(groupsOptions)
  const close = () => setDialog(undefined)
  const columns: Column<AgentGroup>[] = [
    {
      key: 'name',
      label: 'Group',
      cell: ({ id, name }) => (
        <Link to="/agents" search={{ groupId: id }}>
          {name}
        </Link>
      ),
    },
    {
      key: 'conversations',
      label: 'Conversations',
      numeric: true,
      cell: ({ id, name }) => <CountLink filter={{ agentGroupIds: [id] }} of={name} />,
    },
    { key: 'made', label: 'Created', from: 720, cell: ({ createdAt }) => <Time at={createdAt} /> },
    {
      key: 'ways',
      label: '',
      cell: (group) =>
        mayWrite && (
          <div className={styles.cellWays}>
            <Button
              small
              look="quiet"
              aria-label={`Rename ${group.name}`}
              onClick={() => setDialog({ what: 'rename', group })}
            >
              Rename
            </Button>
            <Button
              small
              look="quiet"
              aria-label={`Delete ${group.name}`}
              onClick={() => setDialog({ what: 'delete', group })}
            >
              Delete
            </Button>
          </div>
        ),
    },
  ]
  return (
    <>
      <ListTable
        list={list}
        label="Agent groups"
        columns={columns}
        empty={
          <Empty title="No groups yet">
            <p>Group agents that do the same job, such as taking bookings, to filter and export them together.</p>
          </Empty>
        }
      />
      {dialog?.what === 'rename' && <GroupDialog group={dialog.group} onClose={close} />}
      {dialog?.what === 'delete' && (
        <Confirm
          title={`Delete “${dialog.group.name}”?`}
          action="Delete group"
          open
          onClose={close}
          run={async () => {
            await api.DELETE('/v1/agent-groups/{id}', { params: { path: { id: dialog.group.id } } })
            await Promise.all([refreshGroups(), refreshAgents()])
            announce(`“${dialog.group.name}” deleted`)
          }}
        >
          Its agents and their conversations are kept.
        </Confirm>
      )}
    </>
  )
}
