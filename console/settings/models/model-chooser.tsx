import { useQuery } from '@tanstack/react-query'
import { answer, api } from '../../api/client.ts'
import type { Schemas } from '../../api/schema.d.ts'
import { joinModel, splitModel } from '../../monitors/model-name.ts'
import { Field, Input, Row, Select } from '../../ui/controls.tsx'

export type ModelChoice = Schemas['ModelChoices']['data'][number]
type Option = { value: string; label: string }

const modelsOptions = {
  queryKey: ['models'],
  queryFn: ({ signal }: { signal: AbortSignal }) => answer(api.GET('/v1/models', { signal })),
}

export const useModels = (): ModelChoice[] => useQuery(modelsOptions).data?.data ?? []

const providerOf = ({ model }: ModelChoice): string => splitModel(model).provider

/** Returns the providers to choose from, including the selected one even if it no longer exists. */
const providerOptions = (choices: ModelChoice[], chosen: string, others: Option[]): Option[] => {
  const names = new Map(choices.map((choice) => [providerOf(choice), choice.provider]))
  const known = [...others, ...[...names].map(([value, label]) => ({ value, label }))]
  const isMissing = chosen === 'any' || !known.some(({ value }) => value === chosen)
  const label = chosen === 'any' ? 'Not chosen' : 'Deleted provider'
  return isMissing ? [...known, { value: chosen, label }] : known
}

type ModelChooserProps = {
  /** The property's name in requests. */
  name: string
  /** The provider and model, `providerId/model`, or one of the other options. */
  value: string
  onChange: (value: string) => void
  choices: ModelChoice[]
  /** The options that don't name a provider. */
  others: Option[]
  label?: string
  hint?: string | undefined
  fault?: string | undefined
}

/** Selects a provider and one of its models. Models that the provider doesn't list can be typed. */
export const ModelChooser = ({ name, value, onChange, choices, others, label, hint, fault }: ModelChooserProps) => {
  const isOther = others.some((other) => other.value === value)
  const { provider, model } = isOther ? { provider: value, model: '' } : splitModel(value)
  const ofProvider = choices.filter((choice) => providerOf(choice) === provider)
  const listId = `${name}-models`
  const chooseProvider = (next: string) => {
    if (others.some((other) => other.value === next)) return onChange(next)
    const [first] = choices.filter((choice) => providerOf(choice) === next)
    onChange(joinModel({ provider: next, model: first?.name ?? '' }))
  }
  return (
    <Row>
      <Field label={label ?? 'Model provider'} {...(isOther && { hint, fault })}>
        {(ids) => (
          <Select
            {...ids}
            value={provider}
            options={providerOptions(choices, provider, others)}
            onChange={({ target }) => chooseProvider(target.value)}
          />
        )}
      </Field>
      {!isOther && (
        <Field label="Model" hint={hint} fault={fault}>
          {(ids) => (
            <>
              <Input
                {...ids}
                name={name}
                list={listId}
                maxLength={200}
                autoComplete="off"
                value={model}
                onChange={({ target }) => onChange(joinModel({ provider, model: target.value }))}
              />
              <datalist id={listId}>
                {ofProvider.map((choice) => (
                  <option key={choice.model} value={choice.name} />
                ))}
              </datalist>
            </>
          )}
        </Field>
      )}
    </Row>
  )
}
