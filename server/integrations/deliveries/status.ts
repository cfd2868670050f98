/** What became of a provider's call. */
export const deliveryStatuses = [
  /** What it announced is yet to be fetched. */
  'pending',
  /** A conversation was made or completed by it. */
  'applied',
  'unchanged',
  /** Sound, and of no finished conversation. */
  'ignored',
  'unreadable',
  /** Read, and at odds with what is stored or allowed. */
  'rejected',
  /** Of a conversation that was erased before. */
  'erased',
  /** What it announced could not be fetched. */
  'failed',
] as const

export type DeliveryStatus = (typeof deliveryStatuses)[number]

export type Settled = { status: DeliveryStatus; reason: string | null; conversationId: string | null }
