import { useQuery } from '@tanstack/react-query'
import type { Ref } from 'react'
import type { Schemas } from '../api/schema.d.ts'
import { Grounds } from '../conversations/results.tsx'
import { monitorOptions } from '../monitors/queries.ts'
import { Badge, OutcomeBadge } from '../ui/badge.tsx'
import { Area, Field } from '../ui/controls.tsx'
import { Key } from '../ui/keys.tsx'
import { FaultNote, Loading } from '../ui/states.tsx'
import { type Answer, agrees, resultLabels } from './answers.ts'
import styles from './card.module.css'
import type { Judged, Result } from './queries.ts'

type Monitor = Schemas['Monitor']

const textAt = (definition: Record<string, unknown>, name: string): string | undefined => {
  const value = definition[name]
  return typeof value === 'string' ? value : undefined
}

/** Shows the monitor's description or definition. */
const Criteria = ({ monitor }: { monitor: Monitor }) => {
  const { definition } = monitor.currentVersion
  const [criteria, expression] = [textAt(definition, 'criteria'), textAt(definition, 'expression')]
  return (
    <div className={styles.criteria}>
      {monitor.description && <p>{monitor.description}</p>}
      {criteria && <p>{criteria}</p>}
      {expression && <code>{expression}</code>}
    </div>
  )
}

const tones = { affected: 'affected', not_affected: 'clear', unsure: 'plain' } as const

const choices: [key: string, value: Judged][] = [
  ['1', 'affected'],
  ['2', 'not_affected'],
  ['3', 'unsure'],
]

/** Shows the monitor's result. In a blind bucket, it appears after the reviewer has answered. */
const MonitorResult = ({ found, answer }: { found: Result; answer: Judged | undefined }) => {
  const same = agrees(answer, found)
  return (
    <div className={styles.found}>
      <p>
        Monitor result: <OutcomeBadge {...found} />
        {same !== undefined && <span className={styles.met}>{same ? 'You agree.' : 'You disagree.'}</span>}
      </p>
      <Grounds result={found} />
    </div>
  )
}

type CardProps = {
  monitorId: string
  name: string
  /** The scorecard and the section of an item. */
  context: string | undefined
  answer: Answer
  /** The monitor's result. Undefined while it is hidden. */
  found: Result | undefined
  /** Whether the judgment differs from the monitor's result. */
  differs: boolean
  focused: boolean
  fault: string | undefined
  noteRef: Ref<HTMLTextAreaElement>
  onFocus: () => void
  onAnswer: (answer: Judged) => void
  onComment: (comment: string) => void
  onLeaveNote: () => void
}

/** Shows a monitor to judge. It is expanded if it is the current one, and otherwise a single line. */
export const Card = (props: CardProps) => {
  const { monitorId, name, context, answer, found, differs, focused, fault, noteRef, ...on } = props
  const monitor = useQuery(monitorOptions(monitorId))
  const { correctResult, comment } = answer
  if (!focused) {
    return (
      <li>
        <button type="button" className={styles.folded} onClick={on.onFocus}>
          <span>
            {name}
            {differs && <span className={styles.open}> · disagrees with the monitor</span>}
          </span>
          {correctResult ? (
            <Badge tone={tones[correctResult]}>{resultLabels[correctResult]}</Badge>
          ) : (
            <span className={styles.open}>not judged</span>
          )}
        </button>
      </li>
    )
  }
  return (
    <li className={styles.card} aria-current="step">
      <h2>{name}</h2>
      {context && <p className={styles.context}>{context}</p>}
      {monitor.data && <Criteria monitor={monitor.data} />}
      {monitor.isPending && <Loading lines={2} />}
      {monitor.error && <FaultNote error={monitor.error} retry={() => void monitor.refetch()} />}
      <fieldset className={styles.choices}>
        <legend>What’s the correct result?</legend>
        {choices.map(([key, value]) => (
          <button
            key={value}
            type="button"
            className={styles.choice}
            aria-pressed={correctResult === value}
            aria-keyshortcuts={key}
            onClick={() => on.onAnswer(value)}
          >
            {resultLabels[value]} <Key>{key}</Key>
          </button>
        ))}
      </fieldset>
      {found && <MonitorResult found={found} answer={correctResult} />}
      <Field label={`Note on ${name}`} fault={fault}>
        {(ids) => (
          <Area
            {...ids}
            ref={noteRef}
            rows={2}
            maxLength={2_000}
            value={comment}
            placeholder="Press N to write, Esc to leave"
            onChange={({ target }) => on.onComment(target.value)}
            onKeyDown={(event) => event.key === 'Escape' && on.onLeaveNote()}
          />
        )}
      </Field>
    </li>
  )
}
