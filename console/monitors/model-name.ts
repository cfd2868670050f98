// Parses a judge's `model`: `providerId/model`, `instance/model` for the operator's endpoint, or only a model.

const ofProvider = /^(instance|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})\/(.*)$/i

/** `provider` is empty if no model is selected, and `any` if the model has no provider. */
type NamedModel = { provider: string; model: string }

export const splitModel = (name: string): NamedModel => {
  const [, provider, model = ''] = ofProvider.exec(name) ?? []
  if (provider !== undefined) return { provider: provider.toLowerCase(), model }
  return { provider: name === '' ? '' : 'any', model: name }
}

export const joinModel = ({ provider, model }: NamedModel): string => {
  if (provider === '') return ''
  return provider === 'any' ? model : `${provider}/${model.trim()}`
}
