import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { isNotFound } from '../api/fault.ts'
import { useMay } from '../api/session.ts'
import { NotFound } from '../layout/not-found.tsx'
import { Button } from '../ui/button.tsx'
import { lazy } from '../ui/lazy.tsx'
import { Page } from '../ui/page.tsx'
import { FaultNote } from '../ui/states.tsx'
import { FindingView } from './finding-view.tsx'
import { findingOptions } from './queries.ts'
import { useTriage, useTriageKeys } from './triage.ts'

const Merge = lazy(async () => (await import('./merge.tsx')).Merge)

export const Finding = () => {
  const { id } = useParams({ from: '/app/findings/$id' })
  const mayWrite = useMay('member')
  const [merging, setMerging] = useState(false)
  const { data: finding, error } = useQuery(findingOptions(id))
  const triage = useTriage()
  useTriageKeys(finding, triage.mutate)
  if (isNotFound(error)) return <NotFound />
  return (
    <Page
      title={finding?.title ?? 'Finding'}
      above={
        <Link to="/findings" search={{}}>
          Findings
        </Link>
      }
      actions={
        finding?.mergedIntoId === null && mayWrite && <Button onClick={() => setMerging(true)}>Merge finding</Button>
      }
    >
      {triage.error && <FaultNote error={triage.error} />}
      <FindingView key={id} id={id} />
      {finding && merging && <Merge finding={finding} onClose={() => setMerging(false)} />}
    </Page>
  )
}
