// Names a request in a batch after the batch and the conversation, so that its result can be assigned to them.

/** The ID of a batch in 22 characters. Some providers limit names to 64 characters. */
const shortenId = (id: string): string => Buffer.from(id.replaceAll('-', ''), 'hex').toString('base64url')

const name = /^([\w-]{22})_([\da-f]{8})([\da-f]{4})([\da-f]{4})([\da-f]{4})([\da-f]{12})$/

export const requestIdOf = (batchId: string, conversationId: string): string =>
  `${shortenId(batchId)}_${conversationId.replaceAll('-', '')}`

/** Returns the conversation, or undefined if the request belongs to another batch. */
export const conversationOf = (batchId: string, requestId: string): string | undefined => {
  const [, batch, ...parts] = name.exec(requestId) ?? []
  return batch === shortenId(batchId) ? parts.join('-') : undefined
}
