import { useState } from 'react'
import { useFormContext } from 'react-hook-form'
import type { Issue } from '../api/fault.ts'
import type { Filter } from '../filters/filter.ts'
import { Button } from '../ui/button.tsx'
import { Choice, Row } from '../ui/controls.tsx'
import { SelectField, TextArea, TextField } from '../ui/form.tsx'
import { late } from '../ui/late.tsx'
import type { Draft } from './draft.ts'
import styles from './editor.module.css'
import { Expression } from './expression.tsx'
import type { Scope } from './queries.ts'
import { RuleReference } from './rule-reference.tsx'
import type { Kind } from './search.ts'

const FilterFields = late(async () => (await import('../filters/filter-fields.tsx')).FilterFields)

type DefinitionFieldsProps = { kind: Kind; problems: Issue[] }

const problemAt = (problems: Issue[], path: string) => problems.find((problem) => problem.path === path)?.message

const RuleFields = ({ problems }: { problems: Issue[] }) => {
  const { setValue } = useFormContext<Draft>()
  return (
    <>
      <Expression
        name="rule.expression"
        label="Rule"
        hint="In CEL. True is affected, false is not; what is not known is unscored."
        required
        lines={4}
        placeholder="turns.by('customer').mentions('real person|human')"
        problem={problemAt(problems, 'definition.expression')}
      />
      <Expression
        name="rule.score"
        label="Score (optional)"
        hint="An expression that gives a number, kept beside the result."
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
        hint="What makes a conversation affected, as you would tell a colleague."
        rows={8}
        required
        maxLength={20_000}
        placeholder="The agent promises a refund without looking the order up first."
      />
      <Choice
        label="Answer"
        value={type}
        options={[
          { value: 'boolean', label: 'Yes or no' },
          { value: 'score', label: 'A score' },
        ]}
        onChange={(next) =>
          setValue('judge.output.type', next === 'score' ? 'score' : 'boolean', { shouldDirty: true })
        }
      />
      {type === 'score' && (
        <>
          <Row>
            <TextField name="judge.output.min" label="From" type="number" step="any" />
            <TextField name="judge.output.max" label="To" type="number" step="any" />
          </Row>
          <Row>
            <SelectField name="judge.output.op" label="Affected when it is" options={operators} />
            <TextField name="judge.output.value" label="Than this" type="number" step="any" />
          </Row>
        </>
      )}
      <TextField name="judge.model" label="Model (optional)" hint="That of the operator if left out." maxLength={255} />
    </>
  )
}

export const DefinitionFields = ({ kind, problems }: DefinitionFieldsProps) => {
  if (kind === 'rule') return <RuleFields problems={problems} />
  return kind === 'judge' ? <JudgeFields /> : null
}

/** All that a scope does not ask. */
const beyondScope: (keyof Filter)[] = [
  ...(['text', 'directions', 'statuses', 'since', 'until', 'minDurationSeconds', 'maxDurationSeconds'] as const),
  ...(['customerId', 'reviewStatus', 'bucketId', 'monitors', 'match'] as const),
]

/** Of which conversations it is asked. */
export const ScopeFields = ({ scope, onChange }: { scope: Scope; onChange: (scope: Scope) => void }) => {
  const [open, setOpen] = useState(Object.keys(scope).length > 0)
  return (
    <fieldset className={styles.scope}>
      <legend>Asked of</legend>
      {open ? (
        // Without the other fields a filter is a scope.
        <FilterFields filter={scope} onChange={(filter) => onChange(filter as Scope)} without={beyondScope} />
      ) : (
        <div>
          All conversations{' '}
          <Button small onClick={() => setOpen(true)}>
            Only some
          </Button>
        </div>
      )}
      <div className={styles.share}>
        <TextField
          name="samplePercent"
          label="Of these, so many in a hundred"
          type="number"
          min={0}
          max={100}
          step={0.01}
        />
      </div>
    </fieldset>
  )
}
