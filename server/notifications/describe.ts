// Describes notifications in words, with the current names of their subjects.

import { cut } from '../destinations/message.ts'
import { explainFailure } from '../exports/failure.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { StoredNotification } from './queries.ts'
import { listNames, listSubjects, type Subject } from './subjects/queries.ts'

type About = Pick<StoredNotification, 'event' | 'subjectType' | 'subjectId' | 'actorUserId'>

type Names = { actor: string | undefined; subject: Subject | undefined }

const gone: Record<StoredNotification['subjectType'], string> = {
  alertIncident: 'a deleted incident',
  finding: 'a deleted finding',
  monitorExport: 'a deleted export',
  conversationExport: 'a deleted export',
  experimentExport: 'a deleted export',
  bucket: 'a deleted bucket',
  bulkAction: 'some conversations',
  member: 'Someone who has left',
}

const longestTitle = 120
const longestName = 80

/** Puts text on one line, and shortens it. A sentence that contains a name and a title fits into an email's subject. */
const shorten = (title: string, limit = longestTitle): string =>
  cut(title.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim(), limit)

/** Returns a subject's title. For a bulk action, the title is the number of conversations. */
const titleOf = (subjectType: About['subjectType'], { title }: Subject): string =>
  subjectType === 'bulkAction' ? title : `“${shorten(title)}”`

const sentenceOf = ({ event, subjectType }: About, { actor = 'Someone', subject }: Names): string => {
  const title = subject ? titleOf(subjectType, subject) : gone[subjectType]
  switch (event) {
    case 'opened':
      return `Alert: ${title} is firing.`
    case 'resolved':
      return `Alert: ${title} is resolved.`
    case 'assigned':
      return `${actor} assigned ${title} to you.`
    case 'mentioned':
      return `${actor} mentioned you in a comment on ${title}.`
    case 'completed':
      return subject ? `Your export ${title} is ready.` : 'Your export was ready, but has been deleted.'
    case 'failed':
      return `${subject ? `Your export ${title}` : 'A deleted export'} failed.${subject?.errorCode ? ` ${explainFailure(subject.errorCode)}` : ''}`
    case 'requested':
      return `${actor} asked you to review ${title}.`
    case 'accepted':
      return `${subject ? shorten(subject.title) : gone.member} joined your organization.`
  }
}

const pathOf = ({ subjectType, subjectId }: About, subject: Subject | undefined): string => {
  switch (subjectType) {
    case 'alertIncident':
      return `/alerts/incidents/${subjectId}`
    case 'finding':
      return `/findings/${subjectId}`
    case 'monitorExport':
    case 'conversationExport':
      return '/exports'
    case 'experimentExport':
      return subject?.experimentId ? `/experiments/${subject.experimentId}` : '/experiments'
    case 'bucket':
      return `/buckets/${subjectId}`
    case 'bulkAction':
      return '/review'
    case 'member':
      return '/settings/members'
  }
}

export type Described = { title: string | null; text: string; path: string }

/** Describes notifications. Titles and names are only read when they are shown, so that erased ones never appear. */
export const describeNotifications = async <Each extends About>(
  db: Db,
  org: OrgId,
  notifications: Each[],
): Promise<(Each & Described)[]> => {
  const subjects = await listSubjects(db, org, [...new Set(notifications.map(({ subjectId }) => subjectId))])
  const names = await listNames(db, org, [...new Set(notifications.flatMap(({ actorUserId }) => actorUserId ?? []))])
  const subjectOf = new Map(subjects.map((subject) => [subject.id, subject]))
  const nameOf = new Map(names.map(({ userId, name }) => [userId, shorten(name, longestName)]))
  return notifications.map((each) => {
    const subject = subjectOf.get(each.subjectId)
    // An ownership rule has no name of its own.
    const actor = each.actorUserId === null ? 'Earshot' : nameOf.get(each.actorUserId)
    return {
      ...each,
      title: subject ? shorten(subject.title) : null,
      text: sentenceOf(each, { actor, subject }),
      path: pathOf(each, subject),
    }
  })
}
