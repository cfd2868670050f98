import Type from 'typebox'
import { Closed } from '../../platform/http/schemas.ts'
import { Finding, FindingCreate } from '../schema.ts'

const { title, description } = FindingCreate.properties

export const FindingDraft = Closed({ title, description }, { title: 'FindingDraft' })

export const SimilarFindings = Closed({
  data: Type.Array(
    Closed(
      {
        finding: Finding,
        similarity: Type.Number({ description: 'From -1 to 1, where 1 means identical.', examples: [0.82] }),
      },
      { title: 'SimilarFinding' },
    ),
    { description: 'Most similar first, at most five.' },
  ),
})
