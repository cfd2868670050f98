/** What a result contains when nothing is known, except why. */
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
