import { notApplicable, other } from '../../filters/category.ts'
import type { CategoryOutput } from './definition.ts'

/** Returns the categories that a judge can return, including the reserved ones that it allows. */
export const categoryKeys = ({ categories, allowOther, allowNotApplicable }: CategoryOutput): string[] => [
  ...categories.map(({ key }) => key),
  ...(allowOther ? [other] : []),
  ...(allowNotApplicable ? [notApplicable] : []),
]
