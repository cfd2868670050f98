/** The content of an unknown result, without its reason. */
export const noResult = {
  result: null,
  score: null,
  reasoning: null,
  evidence: [],
  categories: null,
  fields: null,
  unsupportedFields: [],
  tokens: null,
  cost: null,
  responseMs: null,
  breakdown: null,
}
