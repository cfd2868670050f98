import { sql } from 'kysely'
import type { Db, OrgId } from '../db/database.ts'
import { daysBefore, dueRows } from '../db/due-rows.ts'

type Status = 'queued' | 'sent' | 'failed' | 'kept'

type NewMail = {
  id: string
  recipient: string
  subject: string
  text: string
  html: string | null
  sealed: boolean
  status: 'queued' | 'kept'
  createdAt: Date
}

export const insertMails = (trx: Db, org: OrgId, mails: NewMail[]) =>
  trx
    .insertInto('mails')
    .values(mails.map(({ createdAt, ...mail }) => ({ organization_id: org, ...mail, created_at: createdAt })))
    .execute()

/** Counts emails. Until the transaction ends, other transactions that count them wait. */
export const countMailsSince = async (trx: Db, org: OrgId, subject: string, since: Date): Promise<number> => {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended('mails of ' || ${org}::text, 0))`.execute(trx)
  const { count } = await trx
    .selectFrom('mails')
    .select(sql<number>`count(*)`.as('count'))
    .where('organization_id', '=', org)
    .where('subject', '=', subject)
    .where('created_at', '>=', since)
    .executeTakeFirstOrThrow()
  return count
}

export const findMail = (db: Db, org: OrgId, id: string) =>
  db
    .selectFrom('mails')
    .select(['id', 'recipient', 'subject', 'text', 'html', 'sealed', 'created_at as createdAt'])
    .select(sql<Status>`status`.as('status'))
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .executeTakeFirst()

type MailOutcome = { status: Status; error: string | null; sentAt?: Date }

/** Stores the result of an attempt. */
export const updateMail = (trx: Db, org: OrgId, id: string, { status, error, sentAt }: MailOutcome) =>
  trx
    .updateTable('mails')
    .set({ status, error, sent_at: sentAt ?? null, attempts: sql`attempts + 1` })
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .execute()

/** Marks an email as failed, or as kept without sending. Keeps the error from its last attempt. */
export const endMail = (trx: Db, org: OrgId, id: string, status: 'failed' | 'kept') =>
  trx
    .updateTable('mails')
    .set({ status })
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .where('status', '=', 'queued')
    .execute()

export const oldMails = dueRows({ table: 'mails', isDue: (now) => sql`created_at < ${daysBefore(now, 30)}` })
