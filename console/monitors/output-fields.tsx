// The sections of the form for categories, fields, and guidelines.

import { Plus } from 'lucide-react'
import type { ReactNode } from 'react'
import { useFieldArray, useFormContext } from 'react-hook-form'
import type { Issue } from '../api/fault.ts'
import { Button } from '../ui/button.tsx'
import { Row } from '../ui/controls.tsx'
import { CheckField, SelectField, TextField } from '../ui/form.tsx'
import { lazy } from '../ui/lazy.tsx'
import { type Draft, emptyCategory, emptyField, type FieldType, keyOf } from './draft.ts'
import styles from './output-fields.module.css'
import { RemovableRow, RemovableRows } from './removable-row.tsx'

const Expression = lazy(async () => (await import('./expression/expression.tsx')).Expression)

const mostCategories = 50
const mostFields = 30
const mostGuidelines = 20

type ItemsProps = {
  legend: string
  teaching: string
  item: string
  count: number
  most: number
  onAdd: () => void
  children: ReactNode
}

const Items = ({ legend, teaching, item, count, most, onAdd, children }: ItemsProps) => (
  <fieldset className={styles.items}>
    <legend>{legend}</legend>
    <p className={styles.soft}>{teaching}</p>
    <RemovableRows>{children}</RemovableRows>
    <div>
      <Button small disabled={count >= most} onClick={onAdd}>
        <Plus aria-hidden="true" /> Add {item}
      </Button>
    </div>
  </fieldset>
)

const Item = ({ name, onRemove, children }: { name: string; onRemove: () => void; children: ReactNode }) => (
  <RemovableRow name={name} onRemove={onRemove}>
    <div className={styles.fields}>{children}</div>
  </RemovableRow>
)

export const CategoryFields = () => {
  const { control, watch } = useFormContext<Draft>()
  const { fields, append, remove } = useFieldArray({ control, name: 'judge.output.categories' })
  const labels = watch('judge.output.categories')
  return (
    <>
      <Items
        legend="Categories"
        teaching="The model sees labels and descriptions. Filters and exports use the keys."
        item="category"
        count={fields.length}
        most={mostCategories}
        onAdd={() => append({ ...emptyCategory })}
      >
        {fields.map(({ id }, at) => (
          <Item key={id} name={`category ${at + 1}`} onRemove={() => remove(at)}>
            <Row>
              <TextField
                name={`judge.output.categories.${at}.label`}
                label="Label"
                required
                maxLength={100}
                placeholder="A question about a bill"
              />
              <TextField
                name={`judge.output.categories.${at}.key`}
                label="Key"
                maxLength={64}
                placeholder={keyOf(labels[at]?.label ?? '') || 'billing'}
              />
            </Row>
            <TextField
              name={`judge.output.categories.${at}.description`}
              label="Description (optional)"
              maxLength={500}
            />
            <CheckField name={`judge.output.categories.${at}.affected`} label="Counts as affected" />
          </Item>
        ))}
      </Items>
      <CheckField name="judge.output.multiple" label="Several categories can apply" />
      <CheckField
        name="judge.output.allowOther"
        label="The judge may answer that no category fits"
        hint="These conversations are unscored."
      />
      <CheckField
        name="judge.output.allowNotApplicable"
        label="The judge may answer that the question does not apply"
        hint="These conversations are unscored and don’t count in category shares."
      />
    </>
  )
}

export const GuidelineFields = () => {
  const { control } = useFormContext<Draft>()
  const { fields, append, remove } = useFieldArray({ control, name: 'judge.guidelines' })
  return (
    <Items
      legend="Guidelines (optional)"
      teaching="Short rules for borderline cases. They are part of every request."
      item="guideline"
      count={fields.length}
      most={mostGuidelines}
      onAdd={() => append({ text: '' })}
    >
      {fields.map(({ id }, at) => (
        <Item key={id} name={`guideline ${at + 1}`} onRemove={() => remove(at)}>
          <TextField
            name={`judge.guidelines.${at}.text`}
            label={`Guideline ${at + 1}`}
            maxLength={500}
            placeholder="A promise to call back is an answer."
          />
        </Item>
      ))}
    </Items>
  )
}

const types: { value: FieldType; label: string }[] = [
  { value: 'string', label: 'Text' },
  { value: 'number', label: 'Number' },
  { value: 'date', label: 'Date or time' },
  { value: 'boolean', label: 'Yes or no' },
  { value: 'enum', label: 'One of several options' },
  { value: 'list', label: 'Text list' },
]

export const ExtractFields = () => {
  const { control, watch } = useFormContext<Draft>()
  const { fields, append, remove } = useFieldArray({ control, name: 'judge.output.fields' })
  const values = watch('judge.output.fields')
  return (
    <>
      <Items
        legend="Fields"
        teaching="Earshot looks for each value in the turn that the model quotes, and drops values it can’t find."
        item="field"
        count={fields.length}
        most={mostFields}
        onAdd={() => append({ ...emptyField })}
      >
        {fields.map(({ id }, at) => (
          <Item key={id} name={`field ${at + 1}`} onRemove={() => remove(at)}>
            <Row>
              <TextField
                name={`judge.output.fields.${at}.key`}
                label="Key"
                required
                maxLength={64}
                placeholder="refund_amount"
              />
              <SelectField name={`judge.output.fields.${at}.type`} label="Type" options={types} />
            </Row>
            {values[at]?.type === 'enum' && (
              <TextField
                name={`judge.output.fields.${at}.options`}
                label="Options"
                hint="Separated by commas."
                required
                placeholder="late, damaged, wrong item"
              />
            )}
            <TextField
              name={`judge.output.fields.${at}.description`}
              label="Description (optional)"
              maxLength={500}
              placeholder="What the agent promises to pay back"
            />
            <CheckField
              name={`judge.output.fields.${at}.required`}
              label="Required"
              hint="Without a value, the result is unscored."
            />
          </Item>
        ))}
      </Items>
      <TextField
        name="judge.output.condition"
        label="Affected when (optional)"
        hint="A CEL condition on fields. Without one, no conversation is affected."
        maxLength={2_000}
        placeholder="has(fields.refund_amount) && fields.refund_amount > 100"
      />
    </>
  )
}

const problemAt = (problems: Issue[], path: string) => problems.find((problem) => problem.path === path)?.message

/** Shows the form fields for a rule's maps. */
export const MapFields = ({ problems }: { problems: Issue[] }) => (
  <>
    <Expression
      name="rule.categories"
      label="Categories (optional)"
      hint="A map of categories to conditions. Categories with a true condition are stored with the result."
      lines={2}
      placeholder="{'silent': signals.longestSilenceMs > 5000, 'refund': turns.mentions('refund')}"
      problem={problemAt(problems, 'definition.categories')}
    />
    <Expression
      name="rule.fields"
      label="Fields (optional)"
      hint="A map of fields to values, stored with the result."
      lines={2}
      placeholder="{'plan': metadata.plan, 'seconds': conversation.durationSeconds}"
      problem={problemAt(problems, 'definition.fields')}
    />
  </>
)
