// The configuration of an export without its period, shared by exports and schedules.
import Type from 'typebox'
import { Condition } from '../filters/filter.ts'
import { Choice, Closed, Id } from '../platform/http/schemas.ts'
import { tableFormats } from './formats/formats.ts'

const ExportedMonitor = Closed(
  {
    id: Id,
    result: Type.Optional(
      Choice(['all', 'affected', 'not_affected'], {
        default: 'all',
        description:
          'A condition on the call’s result. `all` adds no condition. Missing, unscored, and failed results ' +
          'match no condition.',
      }),
    ),
  },
  { title: 'MonitorExportMonitor' },
)

export const configFields = {
  monitors: Type.Array(ExportedMonitor, {
    minItems: 1,
    maxItems: 20,
    description: 'Distinct monitors. Their columns follow this order.',
  }),
  timezone: Type.String({
    minLength: 1,
    maxLength: 64,
    description: 'The IANA time zone for the period in the file. Timestamps are in UTC.',
    examples: ['Europe/Berlin'],
  }),
  versionScope: Type.Optional(
    Choice(['historical', 'current'], {
      default: 'historical',
      description:
        'Which result of a call counts: `historical` uses the newest version that has one, and `current` only ' +
        'the monitor’s current version when the file is created.',
    }),
  ),
  format: Type.Optional(Choice(tableFormats, { default: 'csv' })),
  reasoning: Type.Optional(Type.Boolean({ default: false, description: 'Adds a reasoning column per monitor.' })),
  match: Type.Optional(
    Choice(['all', 'any'], {
      default: 'all',
      description:
        'Whether all or any of the result conditions must match. Without conditions, every call with a result ' +
        'is included.',
    }),
  ),
  companyId: Type.Optional({ ...Id, description: 'This company’s calls.' }),
  agentId: Type.Optional({ ...Id, description: 'This agent’s calls.' }),
  groupId: Type.Optional({ ...Id, description: 'Calls with agents in this group.' }),
  metadata: Type.Optional(
    Type.Array(Condition, { maxItems: 8, default: [], description: 'All of these metadata conditions must match.' }),
  ),
}
