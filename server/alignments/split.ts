import { createHmac } from 'node:crypto'

/** Improvements are learned from one half of the judged conversations, and tested on the other. */
export type Half = 'tuning' | 'test'

/**
 * Returns the half of a conversation, which does not depend on the monitor or its version. Conversations with the same
 * customer are similar, so they are in the same half. If a conversation's customer changes, its half changes, too. That
 * is why `cases.ts` keeps conversations in the tuning half after a judge has learned from them.
 */
export const halfOf = (org: string, { id, customerId }: { id: string; customerId: string | null }): Half => {
  const unit = customerId === null ? `conversation ${id.toLowerCase()}` : `customer ${customerId}`
  const hash = createHmac('sha256', `alignment ${org}`).update(unit).digest()
  return (hash[0] ?? 0) % 2 === 0 ? 'tuning' : 'test'
}
