/** A text in an address; nothing where there is none. */
export const readText = <const Name extends string>(name: Name, value: unknown): { [name in Name]?: string } =>
  // The name is the caller's, which the compiler does not follow through a computed key.
  (typeof value === 'string' && value !== '' ? { [name]: value } : {}) as { [name in Name]?: string }
