const ways = ['curl', 'javascript', 'python', 'provider'] as const

/** The selected tab. */
export type StartSearch = { way?: (typeof ways)[number] }

export const readStartSearch = ({ way }: Record<string, unknown>): StartSearch => {
  const known = ways.find((name) => name === way)
  return known && known !== 'curl' ? { way: known } : {}
}
