import { useFormContext } from 'react-hook-form'
import { type ModelChoice, ModelChooser, useModels } from '../settings/models/model-chooser.tsx'
import type { Draft } from './draft.ts'

const priceText = (choice: ModelChoice | undefined): string => {
  if (!choice) return ''
  if (!choice.price) return 'Its price is unknown, so its results have no cost.'
  return `$${choice.price.input} / $${choice.price.output} per million tokens.`
}

/** Chooses the provider and the model of a judge. */
export const ModelField = () => {
  const { watch, setValue, getFieldState, formState } = useFormContext<Draft>()
  const choices = useModels()
  const named = watch('judge.model')
  const initial = choices.find(({ isDefault }) => isDefault)
  const standard = initial ? `Default (${initial.name}, ${initial.provider})` : 'Default'
  return (
    <ModelChooser
      name="judge.model"
      value={named}
      onChange={(next) => setValue('judge.model', next, { shouldDirty: true })}
      choices={choices}
      others={[{ value: '', label: standard }]}
      hint={priceText(choices.find((choice) => choice.model === named))}
      fault={getFieldState('judge.model', formState).error?.message}
    />
  )
}
