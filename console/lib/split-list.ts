/** Splits a comma-separated list: `a, b ,` into a and b. */
export const splitList = (text: string): string[] => text.split(',').flatMap((part) => part.trim() || [])
