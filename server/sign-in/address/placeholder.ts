/** Nobody has an address there. The first person of an instance enters theirs when they join. */
const placeholderDomain = 'localhost.localdomain'

export const placeholderAddress = (name: string): string => `${name}@${placeholderDomain}`

export const isPlaceholder = (email: string): boolean => email.endsWith(`@${placeholderDomain}`)
