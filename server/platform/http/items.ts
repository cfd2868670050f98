import type { Static, TSchema } from 'typebox'
import { ApiError } from '../errors.ts'
import { compileStrict } from '../json-schema.ts'
import type { JsonSchema } from './examples.ts'
import { toIssues } from './validation.ts'

/** Reads the items in a batch one by one, so that an invalid item doesn't affect the others. */
export const itemReader = <S extends TSchema>(schema: S): ((item: unknown) => Static<S> | ApiError) => {
  // The schemas of this service are plain JSON schemas.
  const validate = compileStrict<Static<S>>(schema as JsonSchema)
  return (item) => {
    if (validate(item)) return item
    const issues = toIssues(validate.errors ?? [])
    const [first] = issues
    return new ApiError('invalid', `${first?.path || 'The item'} ${first?.message ?? 'is invalid'}`, { issues })
  }
}
