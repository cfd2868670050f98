import Type from 'typebox'
import { Choice, Closed, Id, Timestamp } from '../../platform/http/schemas.ts'

export const Recording = Closed(
  {
    conversationId: Id,
    status: Choice(['stored']),
    contentType: Type.String({ description: 'Detected from the content.', examples: ['audio/wav'] }),
    bytes: Type.Integer({ minimum: 1, examples: [1_474_604] }),
    createdAt: Timestamp,
  },
  { title: 'Recording' },
)
