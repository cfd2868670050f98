import Type from 'typebox'
import { Closed } from '../platform/http/schemas.ts'

const Cell = Type.Unsafe<string | number | null>({ type: ['string', 'number', 'null'] })

/** Returns the schema of a preview for any kind of export. */
export const PreviewOf = (title: string) =>
  Closed(
    {
      count: Type.Integer({ minimum: 0, description: 'The number of rows the export would have now.' }),
      exceedsLimit: Type.Boolean({ description: 'Whether the export would be too large.' }),
      columns: Type.Array(Type.String()),
      rows: Type.Array(Type.Array(Cell), { description: 'The first 20 rows, with a value per column.' }),
    },
    { title },
  )
