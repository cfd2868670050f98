/** The maximum number of tags on a conversation. */
export const mostTags = 20
