/** A model name that contains its provider: `providerId/model`. */
const ofProvider = /^([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})\/(.*)$/i

/** A name with `instance` in place of a provider's ID, for the operator's endpoint. */
const ofInstance = /^instance\/(.*)$/

type ModelName = {
  /** The provider's ID, or `instance`. Undefined if the name contains no provider. */
  providerId: string | undefined
  /** Undefined if the provider's default model is used. */
  model: string | undefined
}

/** Separates the provider from the model in the `model` of a monitor's definition. */
export const readModelName = (name: string | undefined): ModelName => {
  const [, providerId, model] = ofProvider.exec(name ?? '') ?? []
  if (providerId !== undefined) return { providerId: providerId.toLowerCase(), model: model || undefined }
  const [, ofOperator] = ofInstance.exec(name ?? '') ?? []
  if (ofOperator !== undefined) return { providerId: 'instance', model: ofOperator || undefined }
  return { providerId: undefined, model: name }
}
