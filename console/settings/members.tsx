import { useMutation } from '@tanstack/react-query'
import { MoreHorizontal } from 'lucide-react'
import { useState } from 'react'
import { answer, api } from '../api/client.ts'
import { useList } from '../api/queries.ts'
import { type Role, useMay, useMe } from '../api/session.ts'
import { sentenceCase } from '../lib/format.ts'
import { announce } from '../ui/announce.tsx'
import { Badge } from '../ui/badge.tsx'
import { Button, IconButton } from '../ui/button.tsx'
import { Select } from '../ui/controls.tsx'
import { Confirm, Dialog } from '../ui/dialog.tsx'
import { Menu } from '../ui/menu.tsx'
import { Section } from '../ui/page.tsx'
import { ShownOnce } from '../ui/shown-once.tsx'
import { FaultNote, Loading } from '../ui/states.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { Invite, Rename } from './member-dialogs.tsx'
import { type Member, membersOptions, refresh } from './queries.ts'
import { isAbove, rolesInWords, rolesUpTo } from './roles.ts'
import styles from './settings.module.css'

type OpenDialog =
  | { what: 'invite' }
  | { what: 'step-down'; role: Role }
  | { what: 'rename' | 'remove'; member: Member }
  | { what: 'link'; to: string; url: string }

export const Members = () => {
  const me = useMe()
  const isAdmin = useMay('admin')
  const [dialog, setDialog] = useState<OpenDialog>()
  const { rows, error, isPending, isFetchingMore, more, retry } = useList(membersOptions)
  const close = () => setDialog(undefined)
  const changeRole = useMutation({
    mutationFn: ({ id, role }: { id: string; role: Role }) =>
      answer(api.PATCH('/v1/members/{id}', { params: { path: { id } }, body: { role } })),
    onSuccess: async ({ id, name, role }) => {
      await Promise.all([refresh('members'), id === me.member.id && refresh('me')])
      announce(`${name} is now ${role === 'viewer' || role === 'member' ? 'a' : 'an'} ${role}`)
    },
  })
  const renew = useMutation({
    mutationFn: ({ id }: Member) =>
      answer(api.POST('/v1/members/{id}/invitation', { params: { path: { id } }, body: {} })),
    // The link is only kept while the page is open.
    gcTime: 0,
    onSuccess: ({ invitationUrl }, { name }) => setDialog({ what: 'link', to: name, url: invitationUrl }),
  })
  const mayChange = ({ role }: Member) => isAdmin && !isAbove(role, me.role)
  const columns: Column<Member>[] = [
    {
      key: 'name',
      label: 'Name',
      cell: ({ name, userId }) => (
        <>
          {name} {userId === me.member.userId && <span className={styles.soft}>(you)</span>}
        </>
      ),
    },
    { key: 'email', label: 'Email address', from: 720, cell: ({ email }) => email },
    {
      key: 'role',
      label: 'Role',
      cell: (member) =>
        mayChange(member) ? (
          <div className={styles.cellSelect}>
            <Select
              aria-label={`Role of ${member.name}`}
              value={member.role}
              options={rolesUpTo(me.role)}
              // The options above only have roles as values.
              onChange={({ target }) => {
                const role = target.value as Role
                if (member.id === me.member.id) setDialog({ what: 'step-down', role })
                else changeRole.mutate({ id: member.id, role })
              }}
            />
          </div>
        ) : (
          sentenceCase(member.role)
        ),
    },
    {
      key: 'status',
      label: 'Status',
      from: 480 as const,
      cell: ({ status }) => (status === 'invited' ? <Badge tone="accent">Invited</Badge> : <Badge>Joined</Badge>),
    },
    { key: 'since', label: 'Added', from: 960, cell: ({ createdAt }) => <Time at={createdAt} /> },
    {
      key: 'ways',
      label: '',
      cell: (member) =>
        mayChange(member) && (
          <div className={styles.cellWays}>
            <Menu
              trigger={<IconButton label={`More for ${member.name}`} icon={<MoreHorizontal />} />}
              entries={[
                ...(member.status === 'invited'
                  ? [{ label: 'New invitation link', onSelect: () => renew.mutate(member) }]
                  : []),
                { label: 'Rename', onSelect: () => setDialog({ what: 'rename', member }) },
                ...(member.id === me.member.id
                  ? []
                  : [{ label: 'Remove', danger: true, onSelect: () => setDialog({ what: 'remove', member }) }]),
              ]}
            />
          </div>
        ),
    },
  ]
  return (
    <Section
      title="Members"
      actions={
        isAdmin && (
          <Button look="primary" onClick={() => setDialog({ what: 'invite' })}>
            Invite member
          </Button>
        )
      }
    >
      {error && <FaultNote error={error} retry={retry} />}
      {(changeRole.error ?? renew.error) !== null && <FaultNote error={changeRole.error ?? renew.error} />}
      {isPending && <Loading />}
      {rows && (
        <Table
          label="Members"
          columns={isAdmin ? columns : columns.slice(0, -1)}
          rows={rows}
          idOf={({ id }) => id}
          more={more}
          isFetchingMore={isFetchingMore}
        />
      )}
      <p className={styles.foot}>{rolesInWords}</p>
      {dialog?.what === 'invite' && <Invite onClose={close} />}
      {dialog?.what === 'rename' && <Rename member={dialog.member} onClose={close} />}
      <Dialog title="New invitation link" open={dialog?.what === 'link'} onClose={close} holds>
        {dialog?.what === 'link' && (
          <ShownOnce name="invitation link" value={dialog.url}>
            Send this link to {dialog.to}. It works once and replaces the previous link. You won’t see it again.
          </ShownOnce>
        )}
      </Dialog>
      {dialog?.what === 'step-down' && (
        <Confirm
          title={`Change your own role to ${dialog.role}?`}
          action="Change role"
          open
          onClose={close}
          run={() => changeRole.mutateAsync({ id: me.member.id, role: dialog.role })}
        >
          You’ll lose the permissions of your current role. Only another {me.role} can restore it.
        </Confirm>
      )}
      {dialog?.what === 'remove' && (
        <Confirm
          title={`Remove ${dialog.member.name}?`}
          action="Remove member"
          open
          onClose={close}
          run={async () => {
            await api.DELETE('/v1/members/{id}', { params: { path: { id: dialog.member.id } } })
            await refresh('members')
            announce(`${dialog.member.name} removed`)
          }}
        >
          This signs them out and revokes every API key they created. Their reviews, comments, and findings are kept.
        </Confirm>
      )}
    </Section>
  )
}
