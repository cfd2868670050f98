import { Closed, Id, Nullable, Timestamp } from '../../platform/http/schemas.ts'
import { RichTextInput, RichTextOutput } from '../rich-text/schema.ts'

export const FindingComment = Closed(
  {
    id: Id,
    findingId: { ...Id, description: 'The finding that it was written to, which may have been merged since.' },
    authorUserId: Id,
    body: RichTextOutput,
    createdAt: Timestamp,
    editedAt: { ...Nullable(Timestamp), description: 'Null when it was not.' },
  },
  { title: 'FindingComment' },
)

export const FindingCommentWrite = Closed({ body: RichTextInput })

export const CommentParams = Closed({ id: Id, commentId: Id })
