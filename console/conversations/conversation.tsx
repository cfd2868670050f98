import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useNames } from '../api/names.ts'
import { formatDuration, sentenceCase } from '../lib/format.ts'
import { Badge } from '../ui/badge.tsx'
import { Page } from '../ui/page.tsx'
import { Time } from '../ui/time.tsx'
import { Actions } from './actions.tsx'
import styles from './conversation.module.css'
import { ConversationView } from './conversation-view.tsx'
import { conversationOptions } from './queries.ts'

/** Shows a conversation on its own page. */
export const Conversation = () => {
  const { id } = useParams({ from: '/app/conversations/$id' })
  const place = useSearch({ from: '/app/conversations/$id' })
  const navigate = useNavigate({ from: '/conversations/$id' })
  const { data: conversation, isPending } = useQuery(conversationOptions(id))
  const { nameOf } = useNames('agents')
  const title = conversation
    ? `${nameOf(conversation.agentId)}${conversation.customerId ? ` with ${conversation.customerId}` : ''}`
    : 'Conversation'
  return (
    <Page
      title={title}
      fixed
      above={
        <Link to="/conversations" search={{}}>
          Conversations
        </Link>
      }
      context={
        conversation ? (
          <span className={styles.context}>
            <span>{sentenceCase(conversation.channel)}</span>
            <Time at={conversation.startedAt} />
            {conversation.durationSeconds !== null && <span>{formatDuration(conversation.durationSeconds)}</span>}
            {conversation.status === 'failed' && <Badge tone="failed">Failed</Badge>}
            {conversation.status === 'in_progress' && <Badge tone="accent">In progress</Badge>}
          </span>
        ) : (
          isPending && '…'
        )
      }
      actions={
        conversation && (
          <Actions
            conversation={conversation}
            onErased={() => void navigate({ to: '/conversations', search: {}, replace: true })}
          />
        )
      }
    >
      <div className={styles.body}>
        <ConversationView
          key={id}
          id={id}
          place={place}
          onPlace={(next) => void navigate({ search: next, replace: true, resetScroll: false })}
        />
      </div>
    </Page>
  )
}
