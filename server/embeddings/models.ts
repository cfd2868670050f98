/**
 * The numbers of the built-in models. A stored vector has the number of its model, because only vectors of the same
 * model can be compared. If a model changes, it gets a new number, and all texts are embedded again.
 */
export const builtInModels = { english: 1, other: 2 } as const

/** The number of conversations that were embedded with the built-in models, whichever of them embedded the passages. */
export const builtIn = builtInModels.english

/** The first number for a provider's model. Each organization has its own numbering. */
export const firstProviderModel = 100
