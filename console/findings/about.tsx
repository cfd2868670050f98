// Shows the panel next to a finding: its status, assignee, and source.

import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { answer, api } from '../api/client.ts'
import { useNames } from '../api/names.ts'
import { useMay } from '../api/session.ts'
import { splitList } from '../lib/split-list.ts'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { Field, Input, Select } from '../ui/controls.tsx'
import { Facts } from '../ui/page.tsx'
import { FaultNote } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import styles from './finding.module.css'
import { type Finding, type Priority, refreshFindings } from './queries.ts'
import { mayMove, moves, moveWords, useTriage } from './triage.ts'
import { PriorityMark, priorities, priorityWords, StatusBadge, typeInWords } from './words.tsx'

/** Shows the possible status changes, with a field for the reason. */
const Triage = ({ finding }: { finding: Finding }) => {
  const [reason, setReason] = useState('')
  const triage = useTriage()
  const trimmed = reason.trim()
  return (
    <div className={styles.triage}>
      <Input
        aria-label="Reason"
        placeholder="Reason (optional)"
        maxLength={2000}
        value={reason}
        onChange={({ target }) => setReason(target.value)}
      />
      <div className={styles.ways}>
        {moves[finding.status]
          .filter((status) => mayMove(finding, status))
          .map((status, at) => (
            <Button
              key={status}
              look={at === 0 ? 'primary' : 'plain'}
              busy={triage.isPending && triage.variables.status === status}
              disabled={triage.isPending && triage.variables.status !== status}
              onClick={() =>
                triage.mutate(
                  { finding, status, ...(trimmed && { reason: trimmed }) },
                  { onSuccess: () => setReason('') },
                )
              }
            >
              {moveWords[status]}
            </Button>
          ))}
      </div>
      {triage.error && <FaultNote error={triage.error} />}
    </div>
  )
}

type TagsProps = { tags: string[]; onSave: ((tags: string[], onSaved: () => void) => void) | undefined }

const Tags = ({ tags, onSave }: TagsProps) => {
  const [text, setText] = useState<string>()
  if (text === undefined) {
    return (
      <span className={styles.tags}>
        {tags.map((tag) => (
          <Link key={tag} to="/findings" search={{ tags: tag }}>
            <Badge>{tag}</Badge>
          </Link>
        ))}
        {onSave && (
          <Button small look="quiet" onClick={() => setText(tags.join(', '))}>
            {tags.length > 0 ? 'Edit tags' : 'Add tags'}
          </Button>
        )}
        {!onSave && tags.length === 0 && 'none'}
      </span>
    )
  }
  return (
    <form
      className={styles.attach}
      onSubmit={(event) => {
        event.preventDefault()
        onSave?.(splitList(text), () => setText(undefined))
      }}
    >
      <Input
        aria-label="Tags, separated by commas"
        value={text}
        autoFocus
        onChange={({ target }) => setText(target.value)}
        onKeyDown={({ key }) => key === 'Escape' && setText(undefined)}
      />
      <Button type="submit">Save</Button>
    </form>
  )
}

const Source = ({ source }: Pick<Finding, 'source'>) => {
  const monitors = useNames('monitors')
  const agents = useNames('agents')
  if (source.kind === 'monitor' && source.id) {
    return (
      <Link to="/monitors/$id" params={{ id: source.id }} search={{}}>
        {monitors.nameOf(source.id)}
      </Link>
    )
  }
  if (source.kind === 'experiment' && source.id) {
    return (
      <Link to="/experiments/$id" params={{ id: source.id }} search={{}}>
        Experiment
      </Link>
    )
  }
  if (source.kind === 'agent' && source.id) {
    return (
      <Link to="/agents/$id" params={{ id: source.id }}>
        {agents.nameOf(source.id)}
      </Link>
    )
  }
  return 'Created manually'
}

export const About = ({ finding }: { finding: Finding }) => {
  const { id, status, priority, assigneeUserId, tags, source, createdAt, updatedAt, mergedIntoId } = finding
  const members = useNames('members')
  const mayWrite = useMay('member') && mergedIntoId === null
  const triage = useTriage()
  const change = useMutation({
    mutationFn: (body: { assigneeUserId?: string | null; tags?: string[] }) =>
      answer(api.PATCH('/v1/findings/{id}', { params: { path: { id } }, body })),
    onSuccess: refreshFindings,
  })
  const saveTags = (next: string[], onSaved: () => void) => change.mutate({ tags: next }, { onSuccess: onSaved })
  const fault = triage.error ?? change.error
  const facts: [string, ReactNode][] = [
    ['Status', <StatusBadge key="status" status={status} />],
    ...(mayWrite
      ? []
      : ([
          ['Priority', <PriorityMark key="priority" priority={priority} />],
          ['Assignee', assigneeUserId && members.nameOf(assigneeUserId)],
        ] as [string, ReactNode][])),
    ['Tags', <Tags key="tags" tags={tags} onSave={mayWrite ? saveTags : undefined} />],
    ['Type', typeInWords(finding)],
    ['Source', <Source key="source" source={source} />],
    ['Created', <Time key="filed" at={createdAt} />],
    ['Updated', <Time key="changed" at={updatedAt} ago />],
  ]
  return (
    <div className={styles.about}>
      {mayWrite && (
        <>
          <Triage key={status} finding={finding} />
          <div className={styles.pair}>
            <Field label="Priority">
              {(ids) => (
                <Select
                  {...ids}
                  value={priority}
                  options={priorities.map((value) => ({ value, label: priorityWords[value] }))}
                  // The options above only have priorities as values.
                  onChange={({ target }) => triage.mutate({ finding, priority: target.value as Priority })}
                />
              )}
            </Field>
            <Field label="Assignee">
              {(ids) => (
                <Select
                  {...ids}
                  value={assigneeUserId ?? ''}
                  options={[{ value: '', label: 'Unassigned' }, ...members.options]}
                  onChange={({ target }) => change.mutate({ assigneeUserId: target.value || null })}
                />
              )}
            </Field>
          </div>
        </>
      )}
      {fault && <FaultNote error={fault} />}
      <Facts facts={facts} />
    </div>
  )
}
