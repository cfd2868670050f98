import { createHmac } from 'node:crypto'

/** Improvements are learned from one half of the judged conversations, and tested on the other. */
export type Half = 'tuning' | 'test'

/**
 * Returns the half of a conversation, whatever the monitor and the version. Conversations of one customer are alike, so they
 * are in the same half. The half changes if the conversation's customer does, so `cases.ts` keeps conversations in the tuning
 * half once a judge has learned from them.
 */
export const halfOf = (org: string, { id, customerId }: { id: string; customerId: string | null }): Half => {
  const unit = customerId === null ? `conversation ${id.toLowerCase()}` : `customer ${customerId}`
  const hash = createHmac('sha256', `alignment ${org}`).update(unit).digest()
  return (hash[0] ?? 0) % 2 === 0 ? 'tuning' : 'test'
}
