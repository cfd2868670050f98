/** What one finding may hold. */
export const mostAttached = 10_000
export const mostComments = 1_000
export const mostMerged = 100
