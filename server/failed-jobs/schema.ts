import Type from 'typebox'
import { Closed, Id, Timestamp } from '../platform/http/schemas.ts'

export const FailedJob = Closed(
  {
    id: Id,
    name: Type.String({ description: 'The kind of work.', examples: ['monitor-export.generate'] }),
    attemptCount: Type.Integer({ minimum: 0 }),
    error: Type.String({ description: 'Why the last attempt failed.' }),
    createdAt: Timestamp,
    failedAt: Timestamp,
  },
  { title: 'FailedJob' },
)
