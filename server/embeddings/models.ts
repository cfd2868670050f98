/**
 * The numbers of the built-in models. A stored vector has the number of its model, because only vectors of the same model
 * can be compared. A model that changes gets a new number, and everything is embedded again.
 */
export const builtInModels = { english: 1, other: 2 } as const

/** The number that conversations have in place of a model if the built-in models have embedded them. */
export const builtIn = builtInModels.english

/** The first number of models of providers. Each organization numbers its own. */
export const firstProviderModel = 100
