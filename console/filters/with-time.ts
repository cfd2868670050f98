/** Returns a search with another time, or without one. */
export const withTime = <Search extends { time?: string | undefined }>(
  { time: _, ...others }: Search,
  time: string | undefined,
) => ({ ...others, ...(time !== undefined && { time }) })
