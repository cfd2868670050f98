/** Returns a query parameter as a property, or an empty object if it isn't a string. */
export const readText = <const Name extends string>(name: Name, value: unknown): { [name in Name]?: string } =>
  // TypeScript can't infer the type of a computed key.
  (typeof value === 'string' && value !== '' ? { [name]: value } : {}) as { [name in Name]?: string }
