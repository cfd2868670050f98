import type { OrgId } from '../../../platform/db/database.ts'
import type { Turn } from '../../../transcripts/turn.ts'
import type { EvaluationDeps } from '../../deps.ts'
import { turnsOf } from '../../judge-conversation.ts'
import { listContents, listSubjects } from '../../queries.ts'

export type Readable = { id: string; turns: Turn[] }

/** Reads the conversations that have a readable transcript, in time order. */
export const readConversations = async (
  { db }: Pick<EvaluationDeps, 'db'>,
  org: OrgId,
  ids: string[],
): Promise<Readable[]> => {
  const subjects = await listSubjects(db, org, ids)
  const contents = new Map((await listContents(db, org, ids)).map(({ id, content }) => [id, content]))
  return subjects.flatMap((subject) => {
    const content = contents.get(subject.id)
    const turns = content === undefined || subject.unreadable !== null ? undefined : turnsOf(subject, content)
    return Array.isArray(turns) ? [{ id: subject.id, turns }] : []
  })
}
