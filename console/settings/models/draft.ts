// Converts a provider between form fields and the API's format.
import { providerKinds } from './kinds.ts'
import type { Provider, ProviderKind } from './queries.ts'

type Setting = (typeof providerKinds)[ProviderKind]['fields'][number]['name']

export type ProviderDraft = {
  name: string
  kind: ProviderKind
  model: string
  structuredOutput: 'schema' | 'prompt'
  promptCaching: boolean
} & Record<Setting, string>

type StoredSettings = Partial<Record<Setting | 'model', string>> & {
  structuredOutput?: 'schema' | 'prompt'
  promptCaching?: boolean
}

/** Returns a provider's form fields. Keys are empty, because they are never shown again. */
export const providerDraftOf = (provider: Provider | undefined): ProviderDraft => {
  const { name = '', kind = 'openai-compatible' } = provider ?? {}
  const stored = (provider?.settings ?? {}) as StoredSettings
  const { baseUrl = '', apiVersion = '', region = '', accessKeyId = '', model = '' } = stored
  const { structuredOutput = 'schema', promptCaching = providerKinds[kind].caching !== 'off' } = stored
  const keys = { apiKey: '', secretAccessKey: '' }
  return { name, kind, model, structuredOutput, promptCaching, baseUrl, apiVersion, region, accessKeyId, ...keys }
}

/** Returns the settings for the draft's kind. Empty fields are omitted, so that stored keys are kept. */
export const settingsOf = (draft: ProviderDraft): Record<string, unknown> => {
  const { fields, caching } = providerKinds[draft.kind]
  const filled = fields.flatMap(({ name }) => {
    const value = draft[name].trim()
    return value === '' ? [] : [[name, value]]
  })
  const model = draft.model.trim()
  return {
    ...Object.fromEntries(filled),
    ...(model !== '' && { model }),
    ...(draft.structuredOutput === 'prompt' && { structuredOutput: 'prompt' }),
    ...(caching && draft.promptCaching !== (caching === 'on') && { promptCaching: draft.promptCaching }),
  }
}

const hiddenPart = '…'

/** Returns the visible settings by label. */
export const shownSettings = ({ kind, settings }: Pick<Provider, 'kind' | 'settings'>): [string, string][] =>
  providerKinds[kind].fields.flatMap(({ name, label }) => {
    const value = settings[name]
    return typeof value === 'string' ? [[label.replace(' (optional)', ''), value]] : []
  })

/** Returns whether a key is stored. */
export const hasKey = (settings: Record<string, unknown>, name: string): boolean =>
  String(settings[name] ?? '').startsWith(hiddenPart)
