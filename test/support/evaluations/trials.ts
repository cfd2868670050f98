// Starts a service with a fake model, and creates conversations to test monitors on.
import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { expect } from 'vitest'
import { makeConversation } from '../../make.ts'
import { answer } from '../monitors/model-server.ts'
import { serverWithModel } from './evaluations.ts'

export const definition = { criteria: 'The agent refused to help.', output: { type: 'boolean' } }
export const draft = { kind: 'judge', definition }

/** Returns a model that answers `affected` if the agent said one of the words. */
export const affectedBy =
  (...words: string[]) =>
  ({ transcript }: { transcript: string }) => {
    const quote = words.find((word) => transcript.includes(word))
    return quote === undefined ? answer() : answer({ result: 'affected', evidence: [{ turn: 2, quote }] })
  }

type Refused = { status: number; body: { details: { issues: unknown[] } } }

export const issuesOf = ({ status, body }: Refused) => {
  expect(status).toBe(400)
  return body.details.issues
}

export type HumanJudgment = {
  monitorId: string
  correctResult: 'affected' | 'not_affected' | 'unsure'
  isOpen?: boolean
}

/** Starts a service that sends the model one request at a time, so that their order is known. */
export const serverOfTrials = async () => {
  const all = await serverWithModel({ EARSHOT_JUDGE_LIMITS: 'attempts=1,concurrency=1' })
  const { server } = all
  const { call, clock } = server

  const testDraft = (key: string, body: object) => call('POST', '/v1/monitors/test', { key, body })
  const testSaved = (key: string, id: string, body: object) => call('POST', `/v1/monitors/${id}/test`, { key, body })

  /** Creates a call that ends with these words of the agent. Each call starts later than the previous one. */
  const makeCall = async (key: string, said: string, fields: object = {}): Promise<string> => {
    const transcript = [
      { role: 'agent', text: 'Good morning, this is Leo.' },
      { role: 'customer', text: 'I want my money back.' },
      { role: 'agent', text: said },
    ]
    clock.advance(60_000)
    const startedAt = clock.now().toISOString()
    return (await makeConversation(server, key, { transcript, startedAt, ...fields })).id
  }

  /** Creates a call without a transcript. */
  const makeMute = async (key: string): Promise<string> => {
    clock.advance(60_000)
    return (await makeConversation(server, key, { startedAt: clock.now().toISOString() })).id
  }

  /** Creates a human judgment that is later than the previous one. */
  const makeReview = async (
    org: string,
    conversationId: string,
    { monitorId, correctResult, isOpen = false }: HumanJudgment,
  ) => {
    clock.advance(60_000)
    const [status, completedAt] = isOpen ? ['in_progress', null] : ['completed', clock.now()]
    await sql`
      WITH review AS (
        INSERT INTO reviews (organization_id, id, conversation_id, reviewer_user_id, status, completed_at)
        SELECT ${org}, ${randomUUID()}, ${conversationId}, user_id, ${status}, ${completedAt}::timestamptz FROM members
        WHERE organization_id = ${org} LIMIT 1 RETURNING id)
      INSERT INTO review_judgments (organization_id, review_id, monitor_id, monitor_version, correct_result)
      SELECT ${org}, id, ${monitorId}, 1, ${correctResult} FROM review`.execute(server.deps.db)
  }

  const spendingOf = async (key: string) => (await call('GET', '/v1/organization', { key })).body.judgeSpending

  return { ...all, call, testDraft, testSaved, makeCall, makeMute, makeReview, spendingOf }
}
