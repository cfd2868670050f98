import type { Notification, Preferences } from './queries.ts'

type Kind = Notification['kind']

/** The label for each kind of notification, and when people receive it. */
export const kindWords: Record<Kind, { label: string; hint: string }> = {
  incident: { label: 'Incidents', hint: 'An alert fires or resolves.' },
  assignment: { label: 'Assignments', hint: 'A finding is assigned to you.' },
  mention: { label: 'Mentions', hint: 'Someone mentions you in a comment.' },
  export: { label: 'Exports', hint: 'An export you created is ready or failed.' },
  review_request: { label: 'Review requests', hint: 'You become a reviewer of a bucket.' },
  invitation: { label: 'Invitations', hint: 'Someone you invited joins.' },
}

export const kinds = Object.keys(kindWords) as Kind[]

type EmailTime = Preferences['kinds'][Kind]['email']

export const emailTimes: { value: EmailTime; label: string }[] = [
  { value: 'off', label: 'No email' },
  { value: 'immediate', label: 'Immediately' },
  { value: 'daily', label: 'Daily digest' },
  { value: 'weekly', label: 'Weekly digest' },
]
