/** The limit of tags of one conversation. */
export const mostTags = 20
