/** The maximum number of conversations that one action can select with a filter, and by ID. */
export const mostConversations = 100_000
export const mostIds = 1_000
/** The maximum number of unfinished actions in an organization. */
export const mostUnfinished = 10
/** Finished actions are kept and can be undone for this many days. */
export const keptDays = 30
