/** Nobody has an address at this domain. The first person in an instance enters their own address when they join. */
const placeholderDomain = 'localhost.localdomain'

export const placeholderAddress = (name: string): string => `${name}@${placeholderDomain}`

export const isPlaceholder = (email: string): boolean => email.endsWith(`@${placeholderDomain}`)
