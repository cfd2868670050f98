/** The outcome of a provider's call. */
export const deliveryStatuses = [
  /** The announced data still has to be fetched. */
  'pending',
  /** A conversation was created or completed. */
  'applied',
  'unchanged',
  /** Valid, but not a finished conversation. */
  'ignored',
  'unreadable',
  /** Valid, but in conflict with stored data or limits. */
  'rejected',
  /** For a conversation that was erased. */
  'erased',
  /** The announced data could not be fetched. */
  'failed',
] as const

export type DeliveryStatus = (typeof deliveryStatuses)[number]

export type SettledDelivery = { status: DeliveryStatus; reason: string | null; conversationId: string | null }
