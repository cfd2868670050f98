import { useQuery } from '@tanstack/react-query'
import { useFormContext } from 'react-hook-form'
import { answer, api } from '../api/client.ts'
import type { Schemas } from '../api/schema.d.ts'
import { Field, Input, Row, Select } from '../ui/controls.tsx'
import type { Draft } from './draft.ts'
import { joinModel, splitModel } from './model-name.ts'

type Choice = Schemas['ModelChoices']['data'][number]

const modelsOptions = {
  queryKey: ['models'],
  queryFn: ({ signal }: { signal: AbortSignal }) => answer(api.GET('/v1/models', { signal })),
}

const providerOf = ({ model }: Choice): string => splitModel(model).provider

/** Returns the providers of the choices, and the one that the monitor names even if it no longer exists. */
const providerOptions = (choices: Choice[], chosen: string) => {
  const names = new Map(choices.map((choice) => [providerOf(choice), choice.provider]))
  const initial = choices.find(({ isDefault }) => isDefault)
  const standard = initial ? `Default (${initial.name}, ${initial.provider})` : 'Default'
  const missing = chosen !== '' && chosen !== 'any' && !names.has(chosen)
  return [
    { value: '', label: standard },
    ...(chosen === 'any' ? [{ value: 'any', label: 'Not chosen' }] : []),
    ...[...names].map(([value, label]) => ({ value, label })),
    ...(missing ? [{ value: chosen, label: 'Deleted provider' }] : []),
  ]
}

const priceText = (choice: Choice | undefined): string => {
  if (!choice) return ''
  if (!choice.price) return 'Its price is unknown, so its results have no cost.'
  return `$${choice.price.input} / $${choice.price.output} per million tokens.`
}

/** Chooses the provider and the model of a judge. Models that the provider doesn’t list can be typed. */
export const ModelField = () => {
  const { watch, setValue, getFieldState, formState } = useFormContext<Draft>()
  const { data } = useQuery(modelsOptions)
  const choices = data?.data ?? []
  const named = watch('judge.model')
  const { provider, model } = splitModel(named)
  const ofProvider = choices.filter((choice) => providerOf(choice) === provider)
  const write = (next: { provider: string; model: string }) =>
    setValue('judge.model', joinModel(next), { shouldDirty: true })
  const chooseProvider = (next: string) => {
    const [first] = choices.filter((choice) => providerOf(choice) === next)
    write({ provider: next, model: first?.name ?? '' })
  }
  const hint = priceText(choices.find((choice) => choice.model === named))
  return (
    <Row>
      <Field label="Model provider">
        {(ids) => (
          <Select
            {...ids}
            value={provider}
            options={providerOptions(choices, provider)}
            onChange={({ target }) => chooseProvider(target.value)}
          />
        )}
      </Field>
      {provider !== '' && (
        <Field label="Model" hint={hint} fault={getFieldState('judge.model', formState).error?.message}>
          {(ids) => (
            <>
              <Input
                {...ids}
                name="judge.model"
                list="models-of-provider"
                maxLength={200}
                autoComplete="off"
                value={model}
                onChange={({ target }) => write({ provider, model: target.value })}
              />
              <datalist id="models-of-provider">
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
