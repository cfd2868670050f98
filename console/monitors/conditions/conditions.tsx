import { useState } from 'react'
import { signalLabel, signalNames } from '../../conversations/signal-names.ts'
import { useSounds } from '../../conversations/use-sounds.ts'
import { Button } from '../../ui/button.tsx'
import { Choice, Input, Select } from '../../ui/controls.tsx'
import { comparisonWords } from '../definition-text.ts'
import { RemovableRow, RemovableRows } from '../removable-row.tsx'
import styles from './conditions.module.css'
import { type Comparison, type Conditions, comparisons, type RuleCondition, readRule, writeRule } from './rule-text.ts'

type Kind = RuleCondition['kind']
type Of<K extends Kind> = Extract<RuleCondition, { kind: K }>
type Change<K extends Kind> = { condition: Of<K>; change: (part: Partial<Of<K>>) => void }

const option = (value: string, label: string) => ({ value, label })

const kinds: Record<Kind, { label: string; start: RuleCondition }> = {
  words: {
    label: 'Someone says…',
    start: { kind: 'words', who: 'customer', where: 'anywhere', messages: 3, words: [], not: false },
  },
  signal: {
    label: 'A signal, such as response time',
    start: { kind: 'signal', name: 'responseLatencyMs.p95', op: 'gt', value: 2_500, not: false },
  },
  sound: {
    label: 'The recording, such as measured response time',
    start: { kind: 'sound', name: 'responseMs.agent.p95', op: 'gt', value: 2_500, not: false },
  },
  duration: { label: 'Duration', start: { kind: 'duration', op: 'gt', value: 600, not: false } },
  field: {
    label: 'Channel, direction, or end reason',
    start: { kind: 'field', field: 'channel', value: 'call', not: false },
  },
  tool: { label: 'A tool', start: { kind: 'tool', name: '', what: 'failed', not: false } },
  text: { label: 'Metadata or metric: text', start: { kind: 'text', of: 'metadata', key: '', value: '', not: false } },
  number: {
    label: 'Metadata or metric: number',
    start: { kind: 'number', of: 'metrics', key: '', op: 'gte', value: 0, not: false },
  },
  truth: {
    label: 'Metadata or metric: true or false',
    start: { kind: 'truth', of: 'metadata', key: '', value: true, not: false },
  },
  known: { label: 'Metadata or metric: has a value', start: { kind: 'known', of: 'metadata', key: '', not: false } },
}

const comparisonLabels: Record<Comparison, string> = { ...comparisonWords, eq: 'exactly' }

const comparisonOptions = (Object.keys(comparisons) as Comparison[]).map((op) => option(op, comparisonLabels[op]))

const Compared = ({
  op,
  value,
  change,
  unit,
}: {
  op: Comparison
  value: number
  unit?: string
  change: (part: { op?: Comparison; value?: number }) => void
}) => (
  <>
    <Select
      aria-label="Comparison"
      value={op}
      options={comparisonOptions}
      onChange={({ target }) => change({ op: target.value as Comparison })}
    />
    <Input
      type="number"
      step="any"
      aria-label={unit === undefined ? 'Value' : `Value in ${unit}`}
      value={Number.isNaN(value) ? '' : value}
      onChange={({ target }) => change({ value: target.valueAsNumber })}
    />
    {unit}
  </>
)

/** Shows a field for words. Keeps the typed text, because a comma at the end doesn't add a word yet. */
const Words = ({ condition: { who, where, messages, words }, change }: Change<'words'>) => {
  const [typed, setTyped] = useState(words.join(', '))
  return (
    <>
      <Select
        aria-label="Speaker"
        value={who}
        options={[
          option('customer', 'The customer says'),
          option('agent', 'The agent says'),
          option('anyone', 'Anyone says'),
        ]}
        onChange={({ target }) => change({ who: target.value as 'agent' })}
      />
      <Input
        aria-label="Words or phrases, separated by commas"
        placeholder="real person, human"
        value={typed}
        onChange={({ target }) => {
          setTyped(target.value)
          const next = target.value.split(',').map((word) => word.trim())
          change({ words: next.filter((word) => word !== '') })
        }}
      />
      <Select
        aria-label="Position"
        value={where}
        options={[
          option('anywhere', 'anywhere'),
          option('start', 'in the first messages'),
          option('end', 'in the last messages'),
        ]}
        onChange={({ target }) => change({ where: target.value as 'start' })}
      />
      {where !== 'anywhere' && (
        <Input
          type="number"
          min={1}
          max={1000}
          aria-label="Number of messages"
          value={messages}
          onChange={({ target }) => change({ messages: Math.max(1, Math.round(target.valueAsNumber) || 1) })}
        />
      )}
    </>
  )
}

const signals = signalNames.map((name) => option(name, signalLabel(name)))

const unitOf = (name: string): string | undefined => {
  if (/Ms\b/.test(name) && !name.endsWith('.count')) return 'ms'
  if (/Lufs\b/.test(name)) return 'LUFS'
  if (name.endsWith('Lu')) return 'LU'
  return /Db\b/.test(name) ? 'dB' : undefined
}

const Measure = ({
  condition: { kind, name, op, value },
  change,
}: {
  condition: Of<'signal' | 'sound'>
  change: (part: { name?: string; op?: Comparison; value?: number }) => void
}) => {
  const sounds = useSounds(kind === 'sound')
  const unit = unitOf(name)
  return (
    <>
      <Select
        aria-label={kind === 'signal' ? 'Signal' : 'Measure'}
        value={name}
        options={kind === 'signal' ? signals : sounds}
        onChange={({ target }) => change({ name: target.value })}
      />
      <Compared op={op} value={value} change={change} {...(unit !== undefined && { unit })} />
    </>
  )
}

const fieldValues = { channel: ['call', 'chat', 'voicemail'], direction: ['inbound', 'outbound'], endReason: undefined }

const Field = ({ condition: { field, value }, change }: Change<'field'>) => {
  const values = fieldValues[field]
  return (
    <>
      <Select
        aria-label="Field"
        value={field}
        options={[
          option('channel', 'Channel is'),
          option('direction', 'Direction is'),
          option('endReason', 'End reason is'),
        ]}
        onChange={({ target }) => {
          const next = target.value as keyof typeof fieldValues
          change({ field: next, value: fieldValues[next]?.[0] ?? '' })
        }}
      />
      {values ? (
        <Select
          aria-label="Value"
          value={value}
          options={values.map((one) => option(one, one))}
          onChange={({ target }) => change({ value: target.value })}
        />
      ) : (
        <Input aria-label="Value" value={value} onChange={({ target }) => change({ value: target.value })} />
      )}
    </>
  )
}

const Tool = ({ condition: { name, what }, change }: Change<'tool'>) => (
  <>
    <Input
      aria-label="Tool name"
      placeholder="find_order"
      value={name}
      onChange={({ target }) => change({ name: target.value })}
    />
    <Select
      aria-label="What happens"
      value={what}
      options={[option('failed', 'fails'), option('called', 'is called')]}
      onChange={({ target }) => change({ what: target.value as 'called' })}
    />
  </>
)

type DataCondition = Of<'text' | 'number' | 'truth' | 'known'>

const Key = ({
  condition,
  change,
}: {
  condition: DataCondition
  change: (part: { of?: 'metadata'; key?: string }) => void
}) => (
  <>
    <Select
      aria-label="Source"
      value={condition.of}
      options={[option('metadata', 'Metadata'), option('metrics', 'Metric')]}
      onChange={({ target }) => change({ of: target.value as 'metadata' })}
    />
    <Input
      aria-label="Key"
      placeholder="plan"
      value={condition.key}
      onChange={({ target }) => change({ key: target.value })}
    />
  </>
)

const Data = ({ condition, change }: { condition: DataCondition; change: (part: Partial<RuleCondition>) => void }) => (
  <>
    <Key condition={condition} change={change} />
    {condition.kind === 'text' && (
      <>
        is
        <Input aria-label="Value" value={condition.value} onChange={({ target }) => change({ value: target.value })} />
      </>
    )}
    {condition.kind === 'number' && <Compared op={condition.op} value={condition.value} change={change} />}
    {condition.kind === 'truth' && (
      <Select
        aria-label="Value"
        value={String(condition.value)}
        options={[option('true', 'is true'), option('false', 'is false')]}
        onChange={({ target }) => change({ value: target.value === 'true' })}
      />
    )}
    {condition.kind === 'known' && 'has a value'}
  </>
)

const Fields = ({
  condition,
  change,
}: {
  condition: RuleCondition
  change: (part: Partial<RuleCondition>) => void
}) => {
  switch (condition.kind) {
    case 'words':
      return <Words condition={condition} change={change} />
    case 'signal':
    case 'sound':
      return <Measure condition={condition} change={change} />
    case 'duration':
      return (
        <>
          Duration
          <Compared op={condition.op} value={condition.value} change={change} unit="seconds" />
        </>
      )
    case 'field':
      return <Field condition={condition} change={change} />
    case 'tool':
      return <Tool condition={condition} change={change} />
    default:
      return <Data condition={condition} change={change} />
  }
}

type Row = { id: number; condition: RuleCondition }

/** Returns whether a condition is complete. Incomplete conditions are kept in the form, but not in the rule. */
const isComplete = (condition: RuleCondition): boolean => {
  if (condition.kind === 'words') return condition.words.length > 0
  if (condition.kind === 'tool') return condition.name.trim() !== ''
  if ('key' in condition && condition.key.trim() === '') return false
  return !('value' in condition) || (condition.value !== '' && !Number.isNaN(condition.value))
}

type ConditionFieldsProps = {
  expression: string
  /** `incomplete` is the number of the first condition that is missing from the rule. */
  onChange: (expression: string, incomplete?: number) => void
}

/** Shows a rule as conditions. Changes are written as an expression. */
export const ConditionFields = ({ expression, onChange }: ConditionFieldsProps) => {
  const [match, setMatch] = useState<Conditions['match']>(() => readRule(expression)?.match ?? 'all')
  const [rows, setRows] = useState<Row[]>(() =>
    (readRule(expression)?.conditions ?? []).map((condition, id) => ({ id, condition })),
  )
  const update = (next: Row[], nextMatch = match) => {
    setRows(next)
    setMatch(nextMatch)
    const conditions = next.map(({ condition }) => condition).filter(isComplete)
    const incomplete = next.findIndex(({ condition }) => !isComplete(condition))
    onChange(writeRule({ match: nextMatch, conditions }), incomplete < 0 ? undefined : incomplete + 1)
  }
  const change = (id: number, part: Partial<RuleCondition>) =>
    update(
      // The part is of the same kind.
      rows.map((row) => (row.id === id ? { id, condition: { ...row.condition, ...part } as RuleCondition } : row)),
    )
  const add = (kind: Kind) =>
    update([...rows, { id: Math.max(-1, ...rows.map(({ id }) => id)) + 1, condition: kinds[kind].start }])
  return (
    <div className={styles.conditions}>
      {rows.length > 1 && (
        <Choice
          label="Affected if"
          value={match}
          options={[
            { value: 'all', label: 'All conditions are true' },
            { value: 'any', label: 'Any condition is true' },
          ]}
          onChange={(next) => update(rows, next === 'any' ? 'any' : 'all')}
        />
      )}
      <RemovableRows label="Conditions">
        {rows.map(({ id, condition }, at) => (
          <RemovableRow
            key={id}
            name={`Condition ${at + 1}`}
            onRemove={() => update(rows.filter((row) => row.id !== id))}
          >
            <div className={styles.fields}>
              <Select
                aria-label="If or if not"
                value={condition.not ? 'not' : 'is'}
                options={[option('is', 'If'), option('not', 'If not')]}
                onChange={({ target }) => change(id, { not: target.value === 'not' })}
              />
              <Fields condition={condition} change={(part) => change(id, part)} />
            </div>
          </RemovableRow>
        ))}
      </RemovableRows>
      <div className={styles.adding}>
        {rows.length === 0 && <p>A conversation is affected if a condition is true.</p>}
        {(Object.keys(kinds) as Kind[]).map((kind) => (
          <Button key={kind} small onClick={() => add(kind)}>
            {kinds[kind].label}
          </Button>
        ))}
      </div>
    </div>
  )
}
