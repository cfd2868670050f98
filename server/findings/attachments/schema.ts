import Type from 'typebox'
import { Closed, Id, Timestamp } from '../../platform/http/schemas.ts'

const properties = { findingId: Id, conversationId: Id, createdAt: Timestamp }

export const AttachedConversation = Closed(properties, { title: 'AttachedConversation' })

export const FindingConversation = Closed(
  {
    ...properties,
    alreadyExisted: Type.Boolean({ description: 'Whether it was already attached.', examples: [false] }),
  },
  { title: 'FindingConversation' },
)

export const FindingAttach = Closed({ conversationId: Id })

export const AttachmentParams = Closed({ id: Id, conversationId: Id })
