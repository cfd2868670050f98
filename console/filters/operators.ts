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

export const takesValue = (op: Operator): boolean => !op.startsWith('is_')

export const operatorWords = (op: Operator): string => operators.find(({ value }) => value === op)?.label ?? op
