import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { answer, api } from '../api/client.ts'
import { isNotFound } from '../api/fault.ts'
import { useNames } from '../api/names.ts'
import { queryClient } from '../api/queries.ts'
import { useMay } from '../api/session.ts'
import { NotFound } from '../layout/not-found.tsx'
import { announce } from '../ui/announce.tsx'
import { Button } from '../ui/button.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { Page, Prose, Section } from '../ui/page.tsx'
import { Await } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import { Arms } from './arms.tsx'
import { ExperimentBadge } from './experiments.tsx'
import { ExperimentExports } from './exports.tsx'
import { HealthChecks } from './health-checks.tsx'
import { Outcomes } from './outcomes.tsx'
import { experimentOptions, type Experiment as Shown } from './queries.ts'
import { Runs } from './runs.tsx'
import { SampleSize } from './sample-size.tsx'

const Finish = ({ experiment: { id, name } }: { experiment: Shown }) => {
  const [asking, setAsking] = useState(false)
  const finish = useMutation({
    mutationFn: () => answer(api.POST('/v1/experiments/{id}/finish', { params: { path: { id } }, body: {} })),
    onSuccess: async (finished) => {
      queryClient.setQueryData(experimentOptions(id).queryKey, finished)
      await queryClient.invalidateQueries({ queryKey: ['experiments'] })
      announce(`“${name}” finished`)
    },
  })
  return (
    <>
      <Button onClick={() => setAsking(true)}>Finish experiment</Button>
      <Confirm
        title={`Finish “${name}”?`}
        action="Finish experiment"
        open={asking}
        onClose={() => setAsking(false)}
        run={() => finish.mutateAsync()}
      >
        <p>
          No more conversations will be added. Pending results will still count for up to a week. You can’t resume a
          finished experiment. Your routing stays the same.
        </p>
      </Confirm>
    </>
  )
}

const Result = ({ experiment }: { experiment: Shown }) => {
  const mayFinish = useMay('admin')
  const agents = useNames('agents')
  const { status, startedAt, finishedAt, countedAt, agentId, description } = experiment
  return (
    <Page
      title={experiment.name}
      above={<Link to="/experiments">Experiments</Link>}
      context={
        <>
          <ExperimentBadge status={status} />{' '}
          <Link to="/agents/$id" params={{ id: agentId }}>
            {agents.nameOf(agentId)}
          </Link>
          {', since '}
          <Time at={startedAt} />
          {finishedAt ? (
            <>
              {', finished '}
              <Time at={finishedAt} />
            </>
          ) : (
            <>
              {', updated '}
              <Time at={countedAt} ago />
            </>
          )}
        </>
      }
      actions={status === 'running' && mayFinish && <Finish experiment={experiment} />}
    >
      {description && (
        <Prose>
          <p>{description}</p>
        </Prose>
      )}
      <Arms experiment={experiment} />
      <Section title="Health checks">
        <HealthChecks experiment={experiment} />
      </Section>
      <Outcomes experiment={experiment} />
      <Section title="Sample size">
        <SampleSize experiment={experiment} />
      </Section>
      <Section title="Runs" context="Measurement progress">
        <Runs experiment={experiment} />
      </Section>
      <Section title="Exports" context="All observations, one row per conversation and outcome">
        <ExperimentExports id={experiment.id} />
      </Section>
    </Page>
  )
}

export const Experiment = () => {
  const { id } = useParams({ from: '/app/experiments/$id' })
  const query = useQuery(experimentOptions(id))
  if (isNotFound(query.error)) return <NotFound />
  if (query.data) return <Result experiment={query.data} />
  return (
    <Page title="Experiment" above={<Link to="/experiments">Experiments</Link>}>
      <Await query={query} lines={8}>
        {() => null}
      </Await>
    </Page>
  )
}
