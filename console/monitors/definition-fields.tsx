import { useEffect, useRef, useState } from 'react'
import { useFormContext } from 'react-hook-form'
import type { Issue } from '../api/fault.ts'
import type { Filter } from '../filters/filter.ts'
import { Button } from '../ui/button.tsx'
import { Choice, Row } from '../ui/controls.tsx'
import { SelectField, TextArea, TextField } from '../ui/form.tsx'
import { lazy } from '../ui/lazy.tsx'
import { readRule } from './conditions/rule-text.ts'
import { comparisonWords } from './definition-text.ts'
import { type Draft, emptyCategory, emptyField, type OutputType } from './draft.ts'
import styles from './editor.module.css'
import type { Scope } from './queries.ts'
import { RuleReference } from './rule-reference.tsx'
import type { Kind } from './search.ts'

const ModelField = lazy(async () => (await import('./model-field.tsx')).ModelField)

const SoundFields = lazy(async () => (await import('./sound-fields.tsx')).SoundFields)

const ConditionFields = lazy(async () => (await import('./conditions/conditions.tsx')).ConditionFields)

const Expression = lazy(async () => (await import('./expression/expression.tsx')).Expression)

const CategoryFields = lazy(async () => (await import('./output-fields.tsx')).CategoryFields)
const ExtractFields = lazy(async () => (await import('./output-fields.tsx')).ExtractFields)
const GuidelineFields = lazy(async () => (await import('./output-fields.tsx')).GuidelineFields)
const MapFields = lazy(async () => (await import('./output-fields.tsx')).MapFields)

const ScorecardFields = lazy(async () => (await import('./scorecards/scorecard-fields.tsx')).ScorecardFields)

const FilterChips = lazy(async () => (await import('../filters/filter-chips.tsx')).FilterChips)

type DefinitionFieldsProps = { kind: Kind; problems: Issue[] }

const problemAt = (problems: Issue[], path: string) => problems.find((problem) => problem.path === path)?.message

const RuleFields = ({ problems }: { problems: Issue[] }) => {
  const { setValue, getValues, watch, register, unregister, formState } = useFormContext<Draft>()
  const expression = watch('rule.expression')
  const isReadable = readRule(expression) !== undefined
  // The editor for expressions is large, so it only loads when needed.
  const [showsMore, setShowsMore] = useState(() =>
    getValues(['rule.score', 'rule.categories', 'rule.fields']).some((text) => text !== ''),
  )
  const [way, setWay] = useState<'conditions' | 'expression'>(isReadable ? 'conditions' : 'expression')
  /** The rule omits incomplete conditions, so it can't be saved with one. */
  const incomplete = useRef<number>(undefined)
  const write = (text: string, incompleteAt?: number) => {
    incomplete.current = incompleteAt
    setValue('rule.expression', text, { shouldDirty: true, shouldValidate: formState.isSubmitted })
  }
  // Conditions have no form field that contains the expression.
  register('rule.expression', {
    required: way === 'conditions' ? 'Add at least one complete condition.' : 'Rule is required.',
    validate: () =>
      way !== 'conditions' || incomplete.current === undefined || `Complete or remove condition ${incomplete.current}.`,
  })
  // Monitors of other types have no rule, but must still be saved.
  useEffect(() => () => unregister('rule.expression', { keepValue: true }), [unregister])
  const problem = problemAt(problems, 'definition.expression') ?? formState.errors.rule?.expression?.message
  return (
    <>
      <Choice
        label="Write the rule as"
        value={way}
        options={[
          { value: 'conditions', label: 'Conditions' },
          { value: 'expression', label: 'Expression' },
        ]}
        onChange={(next) => {
          incomplete.current = undefined
          setWay(next === 'conditions' ? 'conditions' : 'expression')
        }}
      />
      {way === 'conditions' && isReadable && <ConditionFields expression={expression} onChange={write} />}
      {way === 'conditions' && !isReadable && (
        <p className={styles.teaching}>This rule can’t be shown as conditions. Edit it as an expression.</p>
      )}
      {way === 'expression' && (
        <Expression
          name="rule.expression"
          label="Rule"
          hint="A CEL expression. True means affected, false means not affected. If a value is unknown, the result is unscored."
          required
          lines={4}
          placeholder="turns.by('customer').mentions('real person|human')"
          problem={problemAt(problems, 'definition.expression')}
        />
      )}
      {way === 'conditions' && problem !== undefined && (formState.isSubmitted || expression !== '') && (
        <p className={styles.problem} role="alert">
          {problem}
        </p>
      )}
      {(showsMore || way === 'expression') && (
        <Expression
          name="rule.score"
          label="Score (optional)"
          hint="An expression that returns a number, stored with the result."
          lines={1}
          problem={problemAt(problems, 'definition.score')}
        />
      )}
      {showsMore ? (
        <MapFields problems={problems} />
      ) : (
        <div>
          <Button small onClick={() => setShowsMore(true)}>
            {way === 'expression' ? 'Add categories or fields' : 'Add a score, categories, or fields'}
          </Button>
        </div>
      )}
      {way === 'expression' && <RuleReference onUse={write} />}
    </>
  )
}

const operators = (['lt', 'lte', 'gt', 'gte'] as const).map((value) => ({ value, label: comparisonWords[value] }))

const outputTypes: { value: OutputType; label: string }[] = [
  { value: 'boolean', label: 'Yes or no' },
  { value: 'score', label: 'Score' },
  { value: 'category', label: 'Categories' },
  { value: 'extract', label: 'Fields' },
]

const JudgeFields = () => {
  const { watch, setValue, getValues } = useFormContext<Draft>()
  const type = watch('judge.output.type')
  const setType = (next: OutputType) => {
    setValue('judge.output.type', next, { shouldDirty: true })
    // A list starts with one row, so that nobody sees an empty list.
    const { categories, fields } = getValues('judge.output')
    if (next === 'category' && categories.length === 0) {
      setValue('judge.output.categories', [{ ...emptyCategory }, { ...emptyCategory }])
    }
    if (next === 'extract' && fields.length === 0) setValue('judge.output.fields', [{ ...emptyField }])
  }
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
      <Choice label="Answer" value={type} options={outputTypes} onChange={(next) => setType(next as OutputType)} />
      {type === 'category' && <CategoryFields />}
      {type === 'extract' && <ExtractFields />}
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
      <GuidelineFields />
      <SoundFields />
      <ModelField />
    </>
  )
}

export const DefinitionFields = ({ kind, problems }: DefinitionFieldsProps) => {
  if (kind === 'rule') return <RuleFields problems={problems} />
  if (kind === 'scorecard') return <ScorecardFields />
  return kind === 'judge' ? <JudgeFields /> : null
}

/** The filter fields that a scope doesn't have. */
const beyondScope: (keyof Filter)[] = [
  ...(['text', 'directions', 'statuses', 'since', 'until', 'minDurationSeconds', 'maxDurationSeconds'] as const),
  ...(['customerId', 'reviewStatus', 'bucketId', 'monitors', 'match', 'categories', 'metrics', 'signals'] as const),
  ...(['sound', 'fields', 'findingIds', 'tags', 'topicIds', 'anyOf', 'exclude'] as const),
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
