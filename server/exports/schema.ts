import Type, { type Static } from 'typebox'
import { Choice, Closed, Id, TimestampInput } from '../platform/http/schemas.ts'
import { configFields } from './config-fields.ts'
import { exportStatuses, manifestFields, OperationId, scheduleFields } from './manifest.ts'
import { PreviewOf } from './preview-schema.ts'

const { monitors, ...fields } = configFields

const window = {
  since: { ...TimestampInput, description: 'Calls that started at or after this time. Needs an offset or `Z`.' },
  until: { ...TimestampInput, description: 'Calls that started before this time. Must be later than `since`.' },
}

export const MonitorExportConfig = Closed(
  {
    monitors,
    ...window,
    ...fields,
    notificationEndpointId: Type.Optional({
      ...Id,
      description: 'An active webhook endpoint to notify when the export ends.',
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
    ...scheduleFields,
  },
  { title: 'MonitorExport' },
)

export const MonitorExportPreviewRequest = Closed({ config: MonitorExportConfig })

export const MonitorExportPreview = PreviewOf('MonitorExportPreview')
