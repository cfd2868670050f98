/** The outcomes of a webhook. */
export const deliveryStatuses = [
  /** The webhook only announced data, which still has to be fetched. */
  'pending',
  /** A conversation was created or completed. */
  'applied',
  'unchanged',
  /** The webhook is valid, but does not describe a finished conversation. */
  'ignored',
  'unreadable',
  /** The webhook is valid, but it contradicts stored data or exceeds limits. */
  'rejected',
  /** The conversation was erased before. */
  'erased',
  /** The announced data could not be fetched. */
  'failed',
] as const

export type DeliveryStatus = (typeof deliveryStatuses)[number]

export type SettledDelivery = { status: DeliveryStatus; reason: string | null; conversationId: string | null }
