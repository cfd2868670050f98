import type { Schemas } from '../api/schema.d.ts'

type Operator = Schemas['Condition']['op']

/** The labels of the operators. */
export const operators: { value: Operator; label: string }[] = [
  { value: 'eq', label: 'is' },
  { value: 'neq', label: 'is not' },
  { value: 'contains', label: 'contains' },
  { value: 'not_contains', label: 'doesn’t contain' },
  { value: 'gt', label: 'is greater than' },
  { value: 'gte', label: 'is at least' },
  { value: 'lt', label: 'is less than' },
  { value: 'lte', label: 'is at most' },
  { value: 'is_set', label: 'exists' },
  { value: 'is_not_set', label: 'doesn’t exist' },
  { value: 'is_true', label: 'is true' },
  { value: 'is_false', label: 'is false' },
]

type FieldOperator = Schemas['FieldCondition']['op']

/** The labels of the operators of extracted fields. */
export const fieldOperators: { value: FieldOperator; label: string }[] = [
  ...operators,
  { value: 'in', label: 'is any of' },
  { value: 'is_unsupported', label: 'is unsupported' },
]

export const takesValue = (op: FieldOperator): boolean => !op.startsWith('is_')

export const operatorWords = (op: Operator): string => operators.find(({ value }) => value === op)?.label ?? op
