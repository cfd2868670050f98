import { Closed, Id, Nullable, Timestamp } from '../../platform/http/schemas.ts'
import { RichTextInput, RichTextOutput } from '../../rich-text/document.ts'

export const FindingComment = Closed(
  {
    id: Id,
    findingId: { ...Id, description: 'The finding the comment was written on, which may have been merged since.' },
    authorUserId: Id,
    body: RichTextOutput,
    createdAt: Timestamp,
    editedAt: { ...Nullable(Timestamp), description: 'Null if the comment was not edited.' },
  },
  { title: 'FindingComment' },
)

export const FindingCommentWrite = Closed({ body: RichTextInput })

export const CommentParams = Closed({ id: Id, commentId: Id })
