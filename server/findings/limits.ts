/** The limits for findings. */
export const mostAttached = 10_000
export const mostComments = 1_000
export const mostMerged = 100
