import { useState } from 'react'
import { useFormContext } from 'react-hook-form'
import type { Issue } from '../api/fault.ts'
import type { Filter } from '../filters/filter.ts'
import { Button } from '../ui/button.tsx'
import { Choice, Row } from '../ui/controls.tsx'
import { SelectField, TextArea, TextField } from '../ui/form.tsx'
import { lazy } from '../ui/lazy.tsx'
import type { Draft } from './draft.ts'
import styles from './editor.module.css'
import { Expression } from './expression.tsx'
import type { Scope } from './queries.ts'
import { RuleReference } from './rule-reference.tsx'
import type { Kind } from './search.ts'

const FilterChips = lazy(async () => (await import('../filters/filter-chips.tsx')).FilterChips)

type DefinitionFieldsProps = { kind: Kind; problems: Issue[] }

const problemAt = (problems: Issue[], path: string) => problems.find((problem) => problem.path === path)?.message

const RuleFields = ({ problems }: { problems: Issue[] }) => {
  const { setValue } = useFormContext<Draft>()
  return (
    <>
      <Expression
        name="rule.expression"
        label="Rule"
        hint="A CEL expression. True means affected, false means not affected. If a value is unknown, the result is unscored."
        required
        lines={4}
        placeholder="turns.by('customer').mentions('real person|human')"
        problem={problemAt(problems, 'definition.expression')}
      />
      <Expression
        name="rule.score"
        label="Score (optional)"
        hint="An expression that returns a number, stored with the result."
        lines={1}
        problem={problemAt(problems, 'definition.score')}
      />
      <RuleReference onUse={(expression) => setValue('rule.expression', expression, { shouldDirty: true })} />
    </>
  )
}

const operators = [
  { value: 'lt', label: 'less than' },
  { value: 'lte', label: 'at most' },
  { value: 'gt', label: 'more than' },
  { value: 'gte', label: 'at least' },
]

const JudgeFields = () => {
  const { watch, setValue } = useFormContext<Draft>()
  const type = watch('judge.output.type')
  return (
    <>
      <TextArea
        name="judge.criteria"
        label="Criteria"
        hint="Describe what makes a conversation affected, as you would to a colleague."
        rows={8}
        required
        maxLength={20_000}
        placeholder="The agent promises a refund without looking up the order first."
      />
      <Choice
        label="Answer"
        value={type}
        options={[
          { value: 'boolean', label: 'Yes or no' },
          { value: 'score', label: 'Score' },
        ]}
        onChange={(next) =>
          setValue('judge.output.type', next === 'score' ? 'score' : 'boolean', { shouldDirty: true })
        }
      />
      {type === 'score' && (
        <>
          <Row>
            <TextField name="judge.output.min" label="Minimum" type="number" step="any" />
            <TextField name="judge.output.max" label="Maximum" type="number" step="any" />
          </Row>
          <Row>
            <SelectField name="judge.output.op" label="Affected if the score is" options={operators} />
            <TextField name="judge.output.value" label="Threshold" type="number" step="any" />
          </Row>
        </>
      )}
      <TextField
        name="judge.model"
        label="Model (optional)"
        hint="Uses the organization’s default if empty."
        maxLength={255}
      />
    </>
  )
}

export const DefinitionFields = ({ kind, problems }: DefinitionFieldsProps) => {
  if (kind === 'rule') return <RuleFields problems={problems} />
  return kind === 'judge' ? <JudgeFields /> : null
}

/** The fields of a filter that a scope doesn't have. */
const beyondScope: (keyof Filter)[] = [
  ...(['text', 'directions', 'statuses', 'since', 'until', 'minDurationSeconds', 'maxDurationSeconds'] as const),
  ...(['customerId', 'reviewStatus', 'bucketId', 'monitors', 'match', 'metrics', 'signals'] as const),
  ...(['findingIds', 'anyOf', 'exclude'] as const),
]

/** Shows the fields for the conversations that the monitor evaluates. */
export const ScopeFields = ({ scope, onChange }: { scope: Scope; onChange: (scope: Scope) => void }) => {
  const [open, setOpen] = useState(Object.keys(scope).length > 0)
  return (
    <fieldset className={styles.scope}>
      <legend>Scope</legend>
      {open ? (
        // A filter without these fields is a scope.
        <FilterChips filter={scope} onChange={(filter) => onChange(filter as Scope)} without={beyondScope} />
      ) : (
        <div>
          All conversations{' '}
          <Button small onClick={() => setOpen(true)}>
            {' '}
            Add filters
          </Button>
        </div>
      )}
      <div className={styles.share}>
        <TextField name="samplePercent" label="Sampling rate (%)" type="number" min={0} max={100} step={0.01} />
      </div>
    </fieldset>
  )
}
