import Type, { type Static } from 'typebox'
import { Choice, Closed, Id } from '../../platform/http/schemas.ts'
import { exportStatuses, manifestFields, OperationId, scheduleFields } from '../manifest.ts'
import { PreviewOf } from '../preview-schema.ts'
import { conversationFields } from './config-fields.ts'

export const ConversationExportConfig = Closed(
  {
    ...conversationFields,
    notificationEndpointId: Type.Optional({
      ...Id,
      description: 'An active webhook endpoint to notify when the export ends.',
    }),
  },
  {
    title: 'ConversationExportConfig',
    examples: [
      {
        filter: { period: { previous: 'week', timezone: 'Europe/Berlin' }, channels: ['call'] },
        columns: [{ key: 'startedAt' }, { key: 'agentId' }, { key: 'affected' }, { key: 'metadata:plan' }],
        format: 'jsonl',
      },
    ],
  },
)
export type ConversationExportConfig = Static<typeof ConversationExportConfig>

export const ConversationExportCreate = Closed({ operationId: OperationId, config: ConversationExportConfig })

export const ConversationExport = Closed(
  {
    id: Id,
    operationId: Id,
    status: Choice(exportStatuses),
    config: ConversationExportConfig,
    ...manifestFields,
    ...scheduleFields,
  },
  { title: 'ConversationExport' },
)

export const ConversationExportPreviewRequest = Closed({ config: ConversationExportConfig })

export const ConversationExportPreview = PreviewOf('ConversationExportPreview')
