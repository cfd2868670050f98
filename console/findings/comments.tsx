import { useMutation } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { answer, api } from '../api/client.ts'
import { useNames } from '../api/names.ts'
import { useList } from '../api/queries.ts'
import { useMay, useMe } from '../api/session.ts'
import { Button } from '../ui/button.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { Key, useKeys } from '../ui/keys.tsx'
import { LeaveGuard } from '../ui/leave-guard.tsx'
import { Section } from '../ui/page.tsx'
import { FaultNote, Loading } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import styles from './finding.module.css'
import { type Comment, commentsOptions, type Finding, refreshFindings } from './queries.ts'
import { type Document, RichText, RichTextField } from './rich-text.tsx'

/** Creates a comment, or edits the given one. */
const Composer = ({ findingId, comment, onDone }: { findingId: string; comment?: Comment; onDone: () => void }) => {
  const [body, setBody] = useState<Document | null>(comment?.body ?? null)
  const isSaved = useRef(false)
  const save = useMutation({
    mutationFn: (written: Document) =>
      answer(
        comment
          ? api.PATCH('/v1/findings/{id}/comments/{commentId}', {
              params: { path: { id: comment.findingId, commentId: comment.id } },
              body: { body: written },
            })
          : api.POST('/v1/findings/{id}/comments', { params: { path: { id: findingId } }, body: { body: written } }),
      ),
    onSuccess: async () => {
      isSaved.current = true
      await refreshFindings()
      onDone()
    },
  })
  const send = () => {
    if (body !== null && !save.isPending) save.mutate(body)
  }
  return (
    <div className={styles.composer}>
      <LeaveGuard isDirty={() => !isSaved.current && body !== (comment?.body ?? null)} />
      <RichTextField
        label={comment ? 'Edit comment' : 'New comment'}
        value={body}
        onChange={setBody}
        onSend={send}
        focus
        mentions
      />
      {save.error && <FaultNote error={save.error} />}
      <div className={styles.ways}>
        <Button look="primary" busy={save.isPending} disabled={body === null} onClick={send}>
          {comment ? 'Save comment' : 'Comment'}
        </Button>
        <Button look="quiet" onClick={onDone}>
          Cancel
        </Button>
      </div>
    </div>
  )
}

const CommentItem = ({ comment, mayEdit, mayDelete }: { comment: Comment; mayEdit: boolean; mayDelete: boolean }) => {
  const { nameOf } = useNames('members')
  const [dialog, setDialog] = useState<'edit' | 'delete'>()
  const { id, findingId, authorUserId, body, createdAt, editedAt } = comment
  const close = () => setDialog(undefined)
  const author = nameOf(authorUserId)
  return (
    <li className={styles.comment}>
      <div className={styles.line}>
        <strong>{author}</strong>
        <span className={styles.soft}>
          <Time at={createdAt} ago />
          {editedAt !== null && ', edited'}
        </span>
        <span className={styles.lineWays}>
          {mayEdit && dialog !== 'edit' && (
            <Button small look="quiet" aria-label={`Edit comment by ${author}`} onClick={() => setDialog('edit')}>
              Edit
            </Button>
          )}
          {mayDelete && (
            <Button small look="quiet" aria-label={`Delete comment by ${author}`} onClick={() => setDialog('delete')}>
              Delete
            </Button>
          )}
        </span>
      </div>
      {dialog === 'edit' ? (
        <Composer findingId={findingId} comment={comment} onDone={close} />
      ) : (
        <RichText document={body} />
      )}
      <Confirm
        title="Delete this comment?"
        action="Delete comment"
        open={dialog === 'delete'}
        onClose={close}
        run={async () => {
          await api.DELETE('/v1/findings/{id}/comments/{commentId}', {
            params: { path: { id: findingId, commentId: id } },
          })
          await refreshFindings()
        }}
      >
        This permanently deletes the comment by {author}.
      </Confirm>
    </li>
  )
}

export const Comments = ({ finding }: { finding: Finding }) => {
  const { member } = useMe()
  const mayWrite = useMay('member')
  const isAdmin = useMay('admin')
  const [writing, setWriting] = useState(false)
  const mayComment = mayWrite && finding.mergedIntoId === null
  const write = (event: KeyboardEvent) => {
    event.preventDefault()
    setWriting(true)
  }
  useKeys(mayComment ? { c: { does: 'Add comment', run: write } } : {})
  const { rows, error, more, isFetchingMore, retry } = useList(commentsOptions(finding.id))
  return (
    <Section title="Comments">
      {error && <FaultNote error={error} retry={retry} />}
      {!error && rows === undefined && <Loading lines={2} />}
      {rows?.length === 0 && !mayWrite && <p className={styles.soft}>No comments yet.</p>}
      {rows !== undefined && rows.length > 0 && (
        <ol className={styles.comments}>
          {rows.map((comment) => (
            <CommentItem
              key={comment.id}
              comment={comment}
              mayEdit={mayWrite && comment.authorUserId === member.userId}
              mayDelete={isAdmin || (mayWrite && comment.authorUserId === member.userId)}
            />
          ))}
        </ol>
      )}
      {more && (
        <Button small busy={isFetchingMore} onClick={more}>
          Show more
        </Button>
      )}
      {mayComment &&
        (writing ? (
          <Composer findingId={finding.id} onDone={() => setWriting(false)} />
        ) : (
          <button type="button" className={styles.invitation} onClick={() => setWriting(true)}>
            Add comment <Key>c</Key>
          </button>
        ))}
    </Section>
  )
}
