import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { useNames } from '../api/names.ts'
import { useList } from '../api/queries.ts'
import { useMay } from '../api/session.ts'
import { announce } from '../ui/announce.tsx'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { ChooserOfOne } from '../ui/chooser.tsx'
import { Field, Select } from '../ui/controls.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { ListTable } from '../ui/list-table.tsx'
import { ShownOnce } from '../ui/shown-once.tsx'
import { FaultNote } from '../ui/states.tsx'
import type { Column } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import styles from './boards.module.css'
import type { Board } from './queries.ts'
import { createShare, revokeShare, type Share, sharesOptions } from './share-queries.ts'

const periods = [
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: 'A year' },
]

const Create = ({ board, onCreated }: { board: Board; onCreated: (url: string) => void }) => {
  const companies = useNames('companies')
  const [companyId, setCompanyId] = useState<string | null>(null)
  const [days, setDays] = useState('30')
  const create = useMutation({
    mutationFn: (of: string) => createShare(board.id, of, Number(days)),
    onSuccess: ({ url }) => onCreated(url),
  })
  return (
    <form
      className={styles.form}
      aria-label="New link"
      onSubmit={(event) => {
        event.preventDefault()
        if (companyId !== null && !create.isPending) create.mutate(companyId)
      }}
    >
      <ChooserOfOne
        label="Company"
        hint="The link shows only this company’s conversations, with its name and logo."
        options={companies.options}
        value={companyId}
        onChange={setCompanyId}
        placeholder="Search companies"
      />
      <Field label="Expires after">
        {(ids) => <Select {...ids} value={days} options={periods} onChange={({ target }) => setDays(target.value)} />}
      </Field>
      {create.error && <FaultNote error={create.error} />}
      <div>
        <Button type="submit" look="primary" busy={create.isPending} disabled={companyId === null}>
          Create link
        </Button>
      </div>
    </form>
  )
}

const isExpired = ({ expiresAt }: Share) => Date.parse(expiresAt) <= Date.now()

const Links = ({ board }: { board: Board }) => {
  const { nameOf } = useNames('companies')
  const isAdmin = useMay('admin')
  const list = useList(sharesOptions(board.id))
  const revoke = useMutation({
    mutationFn: ({ id }: Share) => revokeShare(board.id, id),
    onSuccess: (_, { companyId }) => announce(`Link for ${nameOf(companyId)} revoked`),
  })
  const columns: Column<Share>[] = [
    { key: 'company', label: 'Company', cell: ({ companyId }) => nameOf(companyId) },
    {
      key: 'expires',
      label: 'Expires',
      cell: (share) => (isExpired(share) ? <Badge>Expired</Badge> : <Time at={share.expiresAt} ago />),
    },
    {
      key: 'opened',
      label: 'Last opened',
      from: 480,
      cell: ({ lastOpenedAt }) => (lastOpenedAt ? <Time at={lastOpenedAt} ago /> : 'Never'),
    },
    ...(isAdmin
      ? [
          {
            key: 'revoke',
            label: <span className={styles.hidden}>Revoke</span>,
            cell: (share: Share) => (
              <Button
                small
                look="quiet"
                busy={revoke.isPending && revoke.variables.id === share.id}
                aria-label={`Revoke link for ${nameOf(share.companyId)}`}
                onClick={() => revoke.mutate(share)}
              >
                Revoke
              </Button>
            ),
          },
        ]
      : []),
  ]
  return (
    <>
      {revoke.error && <FaultNote error={revoke.error} />}
      <ListTable
        list={list}
        label="Links"
        columns={columns}
        empty={<p className={styles.soft}>No links yet. Anyone with a link can open the board without an account.</p>}
      />
    </>
  )
}

/** Creates and revokes links that show the board to one company. */
export const ShareDialog = ({ board, onClose }: { board: Board; onClose: () => void }) => {
  const [url, setUrl] = useState<string>()
  const isAdmin = useMay('admin')
  return (
    <Dialog title={`Share “${board.name}”`} open wide onClose={onClose}>
      {isAdmin && !url && <Create board={board} onCreated={setUrl} />}
      {!isAdmin && <p className={styles.soft}>Only admins can create and revoke links.</p>}
      {url && (
        <>
          <ShownOnce name="link" value={url}>
            Copy this link now. You won’t see it again.
          </ShownOnce>
          <p className={styles.soft}>
            The link shows the names of the board, its charts, and their agents. Make sure none of them names another
            company.
          </p>
          <div>
            <Button onClick={() => setUrl(undefined)}>Create another link</Button>
          </div>
        </>
      )}
      <Links board={board} />
    </Dialog>
  )
}
