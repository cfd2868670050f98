import Type from 'typebox'
import { Filter } from '../../filters/filter.ts'
import { Sort } from '../../filters/sort.ts'
import { Choice, Id } from '../../platform/http/schemas.ts'
import { Column } from '../../saved-views/columns.ts'
import { formatNames } from '../formats/formats.ts'

/** The configuration of a conversation export without its endpoint, shared with schedules. */
export const conversationFields = {
  filter: Filter,
  columns: Type.Array(Column, {
    minItems: 1,
    maxItems: 50,
    description:
      'The columns of the list, in order, after `conversation_id`. `width` is the column’s width in an Excel sheet. ' +
      'Agents and companies have a column for the ID and one for the name.',
    examples: [[{ key: 'startedAt' }, { key: 'agentId' }, { key: 'affected' }, { key: 'metadata:plan' }]],
  }),
  sort: Type.Optional(Sort),
  format: Type.Optional(Choice(formatNames, { default: 'csv', description: '`jsonl` has one JSON object per line.' })),
  transcripts: Type.Optional(
    Type.Boolean({ default: false, description: 'Adds a column with the turns of each transcript as JSON.' }),
  ),
  regions: Type.Optional(
    Type.Boolean({ default: false, description: 'Adds a column with the marked regions of each recording as JSON.' }),
  ),
  results: Type.Optional(
    Type.Array(Id, {
      maxItems: 20,
      uniqueItems: true,
      default: [],
      description: 'Adds the result, score, version, and time of these monitors’ newest results.',
    }),
  ),
  reasoning: Type.Optional(
    Type.Boolean({ default: false, description: 'Adds a reasoning column per monitor in `results`.' }),
  ),
  timezone: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      default: 'UTC',
      description: 'The IANA time zone for the period in the file. Timestamps are in UTC.',
      examples: ['Europe/Berlin'],
    }),
  ),
}
