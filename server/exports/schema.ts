import Type, { type Static } from 'typebox'
import { Condition } from '../filters/filter.ts'
import { Choice, Closed, Id, TimestampInput } from '../platform/http/schemas.ts'
import { formatNames } from './formats/formats.ts'
import { manifestFields, OperationId } from './manifest.ts'
import { exportStatuses } from './moves.ts'

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

const fields = {
  since: { ...TimestampInput, description: 'Calls that started at this instant or later; with an offset or `Z`.' },
  until: { ...TimestampInput, description: 'Calls that started before this instant; later than `since`.' },
  timezone: Type.String({
    minLength: 1,
    maxLength: 64,
    description: 'The IANA name of the time zone in which the window is told in the file. Timestamps in it are in UTC.',
    examples: ['Europe/Berlin'],
  }),
}

export const MonitorExportConfig = Closed(
  {
    monitors: Type.Array(ExportedMonitor, {
      minItems: 1,
      maxItems: 20,
      description: 'Distinct; their columns follow in this order.',
    }),
    ...fields,
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
    notificationEndpointId: Type.Optional({
      ...Id,
      description: 'An active webhook endpoint that is told how the export ended.',
    }),
  },
  {
    title: 'MonitorExportConfig',
    examples: [
      {
        monitors: [{ id: '0197a3b0-5e1c-7c3a-9a59-3f1f0c2d4e5f', result: 'affected' }],
        since: '2026-11-01T00:00:00+01:00',
        until: '2026-12-01T00:00:00+01:00',
        timezone: 'Europe/Berlin',
      },
    ],
  },
)
export type MonitorExportConfig = Static<typeof MonitorExportConfig>

export const MonitorExportCreate = Closed({ operationId: OperationId, config: MonitorExportConfig })

export const MonitorExport = Closed(
  {
    id: Id,
    operationId: Id,
    status: Choice(exportStatuses),
    config: MonitorExportConfig,
    ...manifestFields,
  },
  { title: 'MonitorExport' },
)

const Whole = Type.Integer({ minimum: 0 })

const Cell = Type.Unsafe<string | number | null>({ type: ['string', 'number', 'null'] })

export const MonitorExportPreviewRequest = Closed({ config: MonitorExportConfig })

export const MonitorExportPreview = Closed(
  {
    count: { ...Whole, description: 'How many rows the export would have now.' },
    exceedsLimit: Type.Boolean({ description: 'Whether that is more than an export may have.' }),
    columns: Type.Array(Type.String()),
    rows: Type.Array(Type.Array(Cell), { description: 'The first 20 rows, with a value for each column.' }),
  },
  { title: 'MonitorExportPreview' },
)
