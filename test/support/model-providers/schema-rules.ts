// Checks JSON schemas of answers against the rules of providers.

type Schema = Record<string, unknown>

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns a schema and all schemas inside of it. */
const partsOf = (schema: unknown): Schema[] => {
  if (!isSchema(schema)) return []
  const inside = [...Object.values(Object(schema.properties)), schema.items, ...((schema.anyOf as unknown[]) ?? [])]
  return [schema, ...inside.flatMap(partsOf)]
}

const objectsOf = (schema: unknown): Schema[] => partsOf(schema).filter(({ type }) => type === 'object')

/**
 * OpenAI's strict mode requires that objects reject unknown properties and require all of their own. Anthropic and
 * Bedrock only require the former.
 */
export const openObjects = (schema: unknown): Schema[] =>
  objectsOf(schema).filter(({ additionalProperties }) => additionalProperties !== false)

export const objectsWithOptional = (schema: unknown): Schema[] =>
  objectsOf(schema).filter(({ properties = {}, required = [] }) =>
    Object.keys(Object(properties)).some((name) => !(required as string[]).includes(name)),
  )

/** The keywords that Anthropic rejects, and that OpenAI does not know for all models. */
const rejected = ['minimum', 'maximum', 'multipleOf', 'minLength', 'maxLength', 'minItems', 'maxItems', 'not', 'if']

export const rejectedKeywords = (schema: unknown): string[] =>
  partsOf(schema).flatMap((part) => Object.keys(part).filter((name) => rejected.includes(name)))
