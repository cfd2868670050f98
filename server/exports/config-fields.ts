// What an export may ask for, but for its window: exports and their schedules are told the same.
import Type from 'typebox'
import { Condition } from '../filters/filter.ts'
import { Choice, Closed, Id } from '../platform/http/schemas.ts'
import { formatNames } from './formats/formats.ts'

const ExportedMonitor = Closed(
  {
    id: Id,
    result: Type.Optional(
      Choice(['all', 'affected', 'not_affected'], {
        default: 'all',
        description:
          'A condition on the call; `all` asks nothing. A missing, unscored or failed result satisfies none.',
      }),
    ),
  },
  { title: 'MonitorExportMonitor' },
)

export const configFields = {
  monitors: Type.Array(ExportedMonitor, {
    minItems: 1,
    maxItems: 20,
    description: 'Distinct; their columns follow in this order.',
  }),
  timezone: Type.String({
    minLength: 1,
    maxLength: 64,
    description: 'The IANA name of the time zone in which the window is told in the file. Timestamps in it are in UTC.',
    examples: ['Europe/Berlin'],
  }),
  versionScope: Type.Optional(
    Choice(['historical', 'current'], {
      default: 'historical',
      description:
        'Of a call, the result of the newest version counts: of all that are stored, or only of the version that is ' +
        'current when generation starts.',
    }),
  ),
  format: Type.Optional(Choice(formatNames, { default: 'csv' })),
  reasoning: Type.Optional(Type.Boolean({ default: false, description: 'Adds a column of reasons a monitor.' })),
  match: Type.Optional(
    Choice(['all', 'any'], {
      default: 'all',
      description:
        'Whether all or any of the monitors’ conditions must hold. Without one, every call with a result counts.',
    }),
  ),
  companyId: Type.Optional({ ...Id, description: 'Calls for this company.' }),
  agentId: Type.Optional({ ...Id, description: 'Calls of this agent.' }),
  groupId: Type.Optional({ ...Id, description: 'Calls of the agents in this group.' }),
  metadata: Type.Optional(
    Type.Array(Condition, { maxItems: 8, default: [], description: 'All of these hold of the metadata.' }),
  ),
}
