import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useMay } from '../api/session.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { lazy } from '../ui/lazy.tsx'
import { Page } from '../ui/page.tsx'
import { Await } from '../ui/states.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { type Board, boardsOptions } from './queries.ts'

const BoardDialog = lazy(async () => (await import('./board-dialog.tsx')).BoardDialog)

const columns: Column<Board>[] = [
  {
    key: 'name',
    label: 'Board',
    cell: ({ id, name }) => (
      <Link to="/boards/$id" params={{ id }}>
        {name}
      </Link>
    ),
  },
  { key: 'description', label: 'Description', from: 480, cell: ({ description }) => description },
  { key: 'charts', label: 'Charts', numeric: true, cell: ({ charts }) => charts.length },
  {
    key: 'updated',
    label: 'Updated',
    from: 720,
    cell: ({ updatedAt }) => (updatedAt ? <Time at={updatedAt} ago /> : 'Built in'),
  },
]

export const Boards = () => {
  const [creating, setCreating] = useState(false)
  const mayWrite = useMay('member')
  const navigate = useNavigate()
  return (
    <Page
      title="Boards"
      context="Conversation charts, shared with your organization"
      actions={
        <>
          <ButtonLink to="/compare">Compare</ButtonLink>
          {mayWrite && (
            <Button look="primary" onClick={() => setCreating(true)}>
              Create board
            </Button>
          )}
        </>
      }
    >
      <Await query={useQuery(boardsOptions)} lines={8}>
        {({ data, builtIn }) => (
          <Table label="Boards" columns={columns} rows={[...data, ...builtIn]} idOf={({ id }) => id} />
        )}
      </Await>
      {creating && (
        <BoardDialog
          onClose={() => setCreating(false)}
          onSaved={({ id }) => void navigate({ to: '/boards/$id', params: { id } })}
        />
      )}
    </Page>
  )
}
