import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useList } from '../api/queries.ts'
import { useMay } from '../api/session.ts'
import { CountLink } from '../filters/count-link.tsx'
import { Button } from '../ui/button.tsx'
import { Code } from '../ui/copy.tsx'
import { lazy } from '../ui/lazy.tsx'
import { ListTable } from '../ui/list-table.tsx'
import { Page } from '../ui/page.tsx'
import { Empty } from '../ui/states.tsx'
import type { Column } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import styles from './companies.module.css'
import { Logo } from './logo.tsx'
import { type Company, companiesOptions } from './queries.ts'

const CompanyDialog = lazy(async () => (await import('./company-dialog.tsx')).CompanyDialog)

const columns: Column<Company>[] = [
  {
    key: 'name',
    label: 'Company',
    cell: (company) => (
      <Link to="/companies/$id" params={{ id: company.id }} className={styles.name}>
        <Logo company={company} /> {company.name}
      </Link>
    ),
  },
  {
    key: 'conversations',
    label: 'Conversations',
    numeric: true,
    cell: ({ id, name }) => <CountLink filter={{ companyIds: [id] }} of={name} />,
  },
  { key: 'created', label: 'Created', from: 480, cell: ({ createdAt }) => <Time at={createdAt} /> },
]

const addingLines = () => `curl ${location.origin}/v1/companies \\
  -H "Authorization: Bearer $EARSHOT_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{ "name": "Acme Dental" }'`

export const Companies = () => {
  const [adding, setAdding] = useState(false)
  const navigate = useNavigate()
  const mayWrite = useMay('member')
  const list = useList(companiesOptions)
  const add = mayWrite && (
    <Button look="primary" onClick={() => setAdding(true)}>
      Create company
    </Button>
  )
  return (
    <Page title="Companies" context="The companies your agents work for" actions={list.rows?.length !== 0 && add}>
      <ListTable
        list={list}
        label="Companies"
        columns={columns}
        lines={8}
        empty={
          <Empty title="No companies yet" action={add}>
            <p>Assign agents and conversations to a company to filter, compare, and export by company.</p>
            <Code>{addingLines()}</Code>
          </Empty>
        }
      />
      {adding && (
        <CompanyDialog
          onClose={() => setAdding(false)}
          onSaved={({ id }) => void navigate({ to: '/companies/$id', params: { id } })}
        />
      )}
    </Page>
  )
}
