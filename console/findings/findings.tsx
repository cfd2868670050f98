import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useList } from '../api/queries.ts'
import { useMay } from '../api/session.ts'
import { Button } from '../ui/button.tsx'
import { Choice } from '../ui/controls.tsx'
import { Code } from '../ui/copy.tsx'
import { useKeys } from '../ui/keys.tsx'
import { lazy } from '../ui/lazy.tsx'
import { Page } from '../ui/page.tsx'
import { Empty } from '../ui/states.tsx'
import { Board } from './board.tsx'
import { Filters } from './filters.tsx'
import { FindingsList } from './findings-list.tsx'
import { findingsOptions } from './queries.ts'
import { type FindingsFilter, type FindingsSearch, filterOf } from './search.ts'

const NewFinding = lazy(async () => (await import('./new-finding.tsx')).NewFinding)

const filingLines = () => `curl ${location.origin}/v1/findings \\
  -H "Authorization: Bearer $EARSHOT_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{ "title": "Refunds are promised", "priority": "high", "tags": ["refund"] }'`

const NoFinding = ({ file }: { file: React.ReactNode }) => (
  <Empty title="No findings yet" action={file}>
    <p>
      A finding is an issue to look into, with the conversations that show it. Earshot creates one when a monitor’s rate
      spikes. To create your own, select text in a conversation.
    </p>
    <Code>{filingLines()}</Code>
  </Empty>
)

const layouts = [
  { value: 'board', label: 'Board' },
  { value: 'list', label: 'List' },
]

export const Findings = () => {
  const search = useSearch({ from: '/app/findings' })
  const navigate = useNavigate({ from: '/findings' })
  const mayWrite = useMay('member')
  const [filing, setFiling] = useState(false)
  const { layout = 'board', open } = search
  const filter = filterOf(search)
  const { status: _, ...boardFilter } = filter
  const go = (next: FindingsSearch) => void navigate({ search: next, replace: true })
  const onSelect = (id: string | undefined) => {
    const { open: __, ...rest } = search
    go(id === undefined ? rest : { ...rest, open: id })
  }
  const layoutSearch = layout === 'list' ? ({ layout } as const) : {}
  // This checks whether there are any findings at all. It is the same query as that of an unfiltered list.
  const { rows: any } = useList(findingsOptions({}))
  const file = mayWrite && (
    <Button look="primary" onClick={() => setFiling(true)}>
      Create finding
    </Button>
  )
  useKeys(mayWrite ? { n: { does: 'Create finding', run: () => setFiling(true) } } : {})
  const isEmpty = any?.length === 0 && Object.keys(filter).length === 0
  return (
    <Page title="Findings" fixed actions={!isEmpty && file}>
      <Filters
        filter={layout === 'list' ? filter : boardFilter}
        hasStatus={layout === 'list'}
        onChange={(next: FindingsFilter) => go({ ...layoutSearch, ...next })}
      >
        <Choice
          label="Layout"
          hideLabel
          value={layout}
          options={layouts}
          onChange={(next) => {
            const { layout: ___, ...rest } = search
            go(next === 'list' ? { ...rest, layout: 'list' } : rest)
          }}
        />
      </Filters>
      {isEmpty && <NoFinding file={file} />}
      {!isEmpty && layout === 'board' && <Board filter={boardFilter} selected={open} onSelect={onSelect} />}
      {!isEmpty && layout === 'list' && (
        <FindingsList
          filter={filter}
          open={open}
          onSelect={onSelect}
          empty={
            <Empty title="No findings match">
              <p>Remove a filter.</p>
            </Empty>
          }
        />
      )}
      {filing && <NewFinding onClose={() => setFiling(false)} />}
    </Page>
  )
}
