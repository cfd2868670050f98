/** Whether the form for a new bucket is open. */
export type BucketsSearch = { make?: boolean }

export const readBucketsSearch = ({ make }: Record<string, unknown>): BucketsSearch => (make === true ? { make } : {})

const states = ['waiting', 'adjudication', 'completed'] as const

/** The listed conversations, the conversation that is being adjudicated, and whether the form is open. */
export type BucketSearch = { status?: (typeof states)[number]; decide?: string; edit?: boolean }

export const readBucketSearch = ({ status, decide, edit }: Record<string, unknown>): BucketSearch => {
  const known = states.find((state) => state === status)
  return {
    ...(known && { status: known }),
    ...(typeof decide === 'string' && { decide }),
    ...(edit === true && { edit }),
  }
}
