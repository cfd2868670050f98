import type { Schemas } from '../api/schema.d.ts'

export type Filter = Schemas['Filter']
export type FieldName = keyof Filter

/** Returns a filter without its empty fields. */
export const withField = <Name extends FieldName>(
  filter: Filter,
  name: Name,
  value: Filter[Name] | undefined,
): Filter => {
  const { [name]: _, ...rest } = filter
  const asksNothing = value === undefined || value === '' || (Array.isArray(value) && value.length === 0)
  return asksNothing ? (rest as Filter) : ({ ...rest, [name]: value } as Filter)
}
