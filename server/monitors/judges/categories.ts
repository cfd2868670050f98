import { mostCategories, notApplicable, other } from '../../filters/category.ts'
import type { CategoryOutput } from './definition.ts'
import { categoryKeys } from './keys.ts'

type Judged =
  | { status: 'scored'; result: 'affected' | 'not_affected'; categories: string[] }
  | { status: 'unscored'; reason: string; categories: string[] }

/** Returns the result that categories lead to. `other` and `not_applicable` never lead to success. */
export const decideByCategories = ({ categories: known }: CategoryOutput, categories: string[]): Judged => {
  const isAffected = known.some(({ key, affected }) => affected === true && categories.includes(key))
  if (isAffected) return { status: 'scored', result: 'affected', categories }
  if (categories.includes(notApplicable)) {
    return { status: 'unscored', reason: 'the criteria do not apply to the conversation', categories }
  }
  if (categories.includes(other)) return { status: 'unscored', reason: 'no category fits', categories }
  return { status: 'scored', result: 'not_affected', categories }
}

/** Reads the categories of an answer. */
export const judgeCategories = (output: CategoryOutput, given: string[]): Judged | { fault: string } => {
  const known = categoryKeys(output)
  const categories = known.filter((key) => given.includes(key))
  const unknown = given.find((key) => !known.includes(key))
  if (unknown !== undefined) return { fault: `categories must not contain ${unknown}` }
  if (categories.length > mostCategories) return { fault: `categories must have at most ${mostCategories} items` }
  if (!output.multiple && categories.length !== 1) return { fault: 'categories must have exactly one item' }
  if (categories.includes(notApplicable) && categories.length > 1) {
    return { fault: `categories must have nothing next to ${notApplicable}` }
  }
  return decideByCategories(output, categories)
}
