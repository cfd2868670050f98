import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { X } from 'lucide-react'
import { useState } from 'react'
import { answer, api } from '../api/client.ts'
import { useNames } from '../api/names.ts'
import { useList } from '../api/queries.ts'
import { useMay } from '../api/session.ts'
import { conversationOptions } from '../conversations/queries.ts'
import { formatDuration, plural, sentenceCase } from '../lib/format.ts'
import { announce } from '../ui/announce.tsx'
import { Button, IconButton } from '../ui/button.tsx'
import { Input } from '../ui/controls.tsx'
import { Section } from '../ui/page.tsx'
import { FaultNote, Loading } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import styles from './finding.module.css'
import { attachedOptions, type Finding, refreshFindings } from './queries.ts'

const AttachedLine = ({ id, onDetach }: { id: string; onDetach: (() => void) | undefined }) => {
  const { data } = useQuery(conversationOptions(id))
  const { nameOf } = useNames('agents')
  return (
    <li className={styles.attached}>
      <Link to="/conversations/$id" params={{ id }} search={{}} className={styles.attachedLink}>
        {data ? (
          <>
            {sentenceCase(data.channel)}, {nameOf(data.agentId)}
          </>
        ) : (
          `Conversation ${id.slice(0, 8)}…`
        )}
      </Link>
      {data && (
        <span className={styles.soft}>
          <Time at={data.startedAt} />
          {data.durationSeconds !== null && ` · ${formatDuration(data.durationSeconds)}`}
        </span>
      )}
      {onDetach && (
        <span className={styles.lineWays}>
          <IconButton label={`Detach conversation ${id.slice(0, 8)}`} icon={<X />} onClick={onDetach} />
        </span>
      )}
    </li>
  )
}

/** Returns the ID in the input, which can also be a pasted URL. */
const idIn = (text: string) => /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/i.exec(text)?.[0] ?? text.trim()

export const Attached = ({ finding }: { finding: Finding }) => {
  const { id, conversationCount, mergedIntoId } = finding
  const mayWrite = useMay('member') && mergedIntoId === null
  const [text, setText] = useState('')
  const { rows, error, more, isFetchingMore, retry } = useList(attachedOptions(id))
  const attach = useMutation({
    mutationFn: (conversationId: string) =>
      answer(api.POST('/v1/findings/{id}/conversations', { params: { path: { id } }, body: { conversationId } })),
    onSuccess: async ({ alreadyExisted }) => {
      await refreshFindings()
      setText('')
      announce(alreadyExisted ? 'Already attached' : 'Conversation attached')
    },
  })
  const detach = useMutation({
    mutationFn: (conversationId: string) =>
      answer(
        api.DELETE('/v1/findings/{id}/conversations/{conversationId}', { params: { path: { id, conversationId } } }),
      ),
    onSuccess: async () => {
      await refreshFindings()
      announce('Conversation detached')
    },
  })
  const fault = error ?? attach.error ?? detach.error
  return (
    <Section title="Conversations" context={conversationCount > 0 && plural(conversationCount, 'conversation')}>
      {fault && <FaultNote error={fault} {...(error && { retry })} />}
      {!error && rows === undefined && <Loading lines={2} />}
      {rows?.length === 0 && (
        <p className={styles.soft}>No conversations yet. Attach conversations that show the problem.</p>
      )}
      {rows !== undefined && rows.length > 0 && (
        <ul>
          {rows.map(({ conversationId }) => (
            <AttachedLine
              key={conversationId}
              id={conversationId}
              onDetach={mayWrite ? () => detach.mutate(conversationId) : undefined}
            />
          ))}
        </ul>
      )}
      {more && (
        <Button small busy={isFetchingMore} onClick={more}>
          Show more
        </Button>
      )}
      {mayWrite && (
        <form
          className={styles.attach}
          onSubmit={(event) => {
            event.preventDefault()
            if (text.trim() !== '') attach.mutate(idIn(text))
          }}
        >
          <Input
            aria-label="Conversation to attach"
            placeholder="Conversation ID or URL"
            value={text}
            onChange={({ target }) => setText(target.value)}
          />
          <Button type="submit" busy={attach.isPending} disabled={text.trim() === ''}>
            Attach
          </Button>
        </form>
      )}
    </Section>
  )
}
