import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { queryClient, useList } from '../../api/queries.ts'
import { useMay } from '../../api/session.ts'
import { formatCount, formatMoney, formatShort, plural } from '../../lib/format.ts'
import { announce } from '../../ui/announce.tsx'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { Field, Input, Select } from '../../ui/controls.tsx'
import { Progress } from '../../ui/progress.tsx'
import { Await, Empty, FaultNote, Loading } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import type { Monitor } from '../queries.ts'
import styles from './alignment.module.css'
import {
  type AlignmentEstimate,
  type AlignmentSummary,
  alignmentOptions,
  alignmentsOptions,
  changeAlignment,
  estimateOptions,
  isUnfinished,
  startAlignment,
} from './queries.ts'
import { Report } from './report.tsx'

const states: Record<AlignmentSummary['status'], { tone: Tone; word: string }> = {
  queued: { tone: 'accent', word: 'Queued' },
  running: { tone: 'accent', word: 'Running' },
  completed: { tone: 'plain', word: 'Completed' },
  failed: { tone: 'failed', word: 'Failed' },
  cancelled: { tone: 'unscored', word: 'Cancelled' },
}

const refresh = (id: string) => queryClient.invalidateQueries({ queryKey: ['monitors', id, 'alignments'] })

const Cost = ({ estimate: { requests, tokens, cost, budgetLeft } }: { estimate: AlignmentEstimate }) =>
  requests === 0 ? (
    <p>No request to the model is needed.</p>
  ) : (
    <p>
      The model judges about {plural(requests, 'conversation')}: {formatShort(tokens.input)} input and{' '}
      {formatShort(tokens.output)} output tokens{cost === null ? ', price unknown' : `, about ${formatMoney(cost)}`}.
      {budgetLeft !== null && ` Monthly budget left: ${formatMoney(budgetLeft)}.`}
    </p>
  )

const Start = ({ id, estimate }: { id: string; estimate: AlignmentEstimate }) => {
  const [maxCost, setMaxCost] = useState('')
  const start = useMutation({
    mutationFn: () => startAlignment(id, maxCost === '' ? null : Number(maxCost)),
    onSuccess: () => refresh(id),
  })
  const { tuning, test } = estimate
  return (
    <form
      className={styles.start}
      aria-label="Start alignment"
      onSubmit={(event) => {
        event.preventDefault()
        start.mutate()
      }}
    >
      <p>
        Improvements are learned from {plural(tuning.conversations, 'judged conversation')} and tested on{' '}
        {formatCount(test.conversations)} others.
      </p>
      <Cost estimate={estimate} />
      {start.error && <FaultNote error={start.error} />}
      <div className={styles.ways}>
        <Field label="Maximum cost in US dollars (optional)">
          {(ids) => (
            <Input
              {...ids}
              type="number"
              min="0.01"
              step="0.01"
              value={maxCost}
              onChange={({ target }) => setMaxCost(target.value)}
            />
          )}
        </Field>
        <Button type="submit" look="primary" busy={start.isPending}>
          Start alignment
        </Button>
      </div>
    </form>
  )
}

const Missing = ({ text }: { text: string }) => (
  <Empty title="Not enough judgments" action={<ButtonLink to="/buckets">Add conversations to a bucket</ButtonLink>}>
    <p>{text}</p>
  </Empty>
)

const StartOrMissing = ({ monitor }: { monitor: Monitor }) => {
  const query = useQuery(estimateOptions(monitor.id, monitor.currentVersion.number))
  return (
    <Await query={query} lines={3}>
      {(estimate) =>
        estimate.missing === null ? <Start id={monitor.id} estimate={estimate} /> : <Missing text={estimate.missing} />
      }
    </Await>
  )
}

const Running = ({ alignment }: { alignment: AlignmentSummary }) => {
  const mayWrite = useMay('member')
  const { id, monitorId, status, failure, done, total } = alignment
  const change = useMutation({
    mutationFn: (to: 'cancel' | 'resume') => changeAlignment(monitorId, id, to),
    onSuccess: ({ status: now }) => announce(`Alignment ${states[now].word.toLowerCase()}`),
    onSettled: () => refresh(monitorId),
  })
  return (
    <>
      {status !== 'completed' && <Progress label="Results" done={done} total={total} />}
      {failure && <p className={styles.failure}>{failure}</p>}
      {change.error && <FaultNote error={change.error} />}
      {mayWrite && isUnfinished(alignment) && (
        <div>
          <Button small busy={change.isPending} onClick={() => change.mutate('cancel')}>
            Cancel alignment
          </Button>
        </div>
      )}
      {mayWrite && (status === 'failed' || status === 'cancelled') && (
        <div>
          <Button small busy={change.isPending} onClick={() => change.mutate('resume')}>
            Resume alignment
          </Button>
        </div>
      )}
    </>
  )
}

const Shown = ({ monitor, alignment }: { monitor: Monitor; alignment: AlignmentSummary }) => {
  const query = useQuery({ ...alignmentOptions(monitor.id, alignment.id), enabled: alignment.status === 'completed' })
  const { tone, word } = states[alignment.status]
  return (
    <section className={styles.part} aria-label="Alignment">
      <div className={styles.line}>
        <Badge tone={tone}>{word}</Badge>
        <span>Version {alignment.monitorVersion}</span>
        <span className={styles.soft}>
          started <Time at={alignment.createdAt} ago />
        </span>
        {alignment.cost !== null && alignment.cost > 0 && (
          <span className={styles.soft}>cost {formatMoney(alignment.cost)}</span>
        )}
      </div>
      <Running alignment={alignment} />
      {alignment.status === 'completed' && (
        <Await query={query} lines={8}>
          {(data) => <Report monitor={monitor} alignment={data} />}
        </Await>
      )}
    </section>
  )
}

export const AlignmentPart = ({ monitor }: { monitor: Monitor }) => {
  const mayWrite = useMay('member')
  const list = useList(alignmentsOptions(monitor.id))
  const [chosen, setChosen] = useState<string>()
  if (list.error) return <FaultNote error={list.error} retry={list.retry} />
  if (list.isPending) return <Loading lines={6} />
  const { rows = [] } = list
  const alignment = rows.find(({ id }) => id === chosen) ?? rows[0]
  const isRunning = rows.some(isUnfinished)
  return (
    <div className={styles.part}>
      {mayWrite && !isRunning && <StartOrMissing monitor={monitor} />}
      {!mayWrite && !alignment && (
        <Empty title="No alignments yet">
          <p>
            An alignment compares this judge with reviewers’ judgments and proposes improvements. Members can start one
            when there are enough reviews.
          </p>
        </Empty>
      )}
      {rows.length > 1 && (
        <div className={styles.ways}>
          <Field label="Alignment">
            {(ids) => (
              <Select
                {...ids}
                value={alignment?.id ?? ''}
                onChange={({ target }) => setChosen(target.value)}
                options={rows.map(({ id, monitorVersion, status }, at) => ({
                  value: id,
                  label: `${at === 0 ? 'Newest' : `${at + 1}.`}: version ${monitorVersion}, ${states[status].word.toLowerCase()}`,
                }))}
              />
            )}
          </Field>
        </div>
      )}
      {alignment && <Shown monitor={monitor} alignment={alignment} />}
    </div>
  )
}
