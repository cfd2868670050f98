import { useFormContext } from 'react-hook-form'
import { ModelChooser, useModels } from './models/model-chooser.tsx'

/** The empty string means the built-in models. */
export type EmbeddingValues = { embeddingModel: string }

/** Selects the model that embeds conversations. */
export const EmbeddingField = () => {
  const { watch, setValue, getFieldState, formState } = useFormContext<EmbeddingValues>()
  return (
    <ModelChooser
      name="embeddingModel"
      label="Embed conversations with"
      value={watch('embeddingModel')}
      onChange={(next) => setValue('embeddingModel', next, { shouldDirty: true })}
      choices={useModels()}
      others={[{ value: '', label: 'Built-in models' }]}
      hint="For search by meaning. Use an OpenAI-compatible or Azure OpenAI provider. After a change, all conversations are embedded again."
      fault={getFieldState('embeddingModel', formState).error?.message}
    />
  )
}
