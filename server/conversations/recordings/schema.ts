import Type from 'typebox'
import { Choice, Closed, Id, Timestamp } from '../../platform/http/schemas.ts'

export const Recording = Closed(
  {
    conversationId: Id,
    status: Choice(['stored', 'processing'], {
      description: '`processing`: the recording is available once it has been redacted.',
    }),
    contentType: Type.String({ description: 'Detected from the content.', examples: ['audio/wav'] }),
    bytes: Type.Integer({ minimum: 1, examples: [1_474_604] }),
    createdAt: Timestamp,
  },
  { title: 'Recording' },
)

export const OriginalAccess = Closed({
  reason: Type.String({
    minLength: 10,
    maxLength: 500,
    pattern: '\\S',
    description: 'Why you need the original. It is part of the audit event.',
    examples: ['The customer disputes what was said, ticket 4711.'],
  }),
})

export const OriginalLink = Closed(
  {
    url: Type.String({ examples: ['https://earshot.example.com/files/eyJrZXkiOiIw'] }),
    expiresAt: Timestamp,
  },
  { title: 'OriginalLink' },
)
