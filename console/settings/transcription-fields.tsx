import { useFormContext } from 'react-hook-form'
import { SelectField } from '../ui/form.tsx'
import { ModelChooser, useModels } from './models/model-chooser.tsx'

/** The form's settings for recordings. Empty strings mean null. */
export type TranscriptionValues = { transcriptionModel: string; agentChannel: string }

type Transcribed = { transcriptionModel: string | null; agentChannel: 0 | 1 | null }

export const transcriptionValues = (stored: Transcribed | undefined): TranscriptionValues => ({
  transcriptionModel: stored?.transcriptionModel ?? '',
  agentChannel: String(stored?.agentChannel ?? ''),
})

export const transcriptionBody = ({ transcriptionModel, agentChannel }: TranscriptionValues): Transcribed => ({
  transcriptionModel: transcriptionModel || null,
  agentChannel: agentChannel === '' ? null : agentChannel === '0' ? 0 : 1,
})

const notTranscribed = 'Not transcribed'

/** Selects the model that transcribes recordings for the organization or an agent. */
export const TranscriptionFields = ({ ofAgent = false }: { ofAgent?: boolean }) => {
  const { watch, setValue, getFieldState, formState } = useFormContext<TranscriptionValues>()
  const choices = useModels()
  const others = ofAgent
    ? [
        { value: '', label: 'Organization default' },
        { value: 'none', label: notTranscribed },
      ]
    : [{ value: '', label: notTranscribed }]
  return (
    <>
      <ModelChooser
        name="transcriptionModel"
        label="Transcribe recordings with"
        value={watch('transcriptionModel')}
        onChange={(next) => setValue('transcriptionModel', next, { shouldDirty: true })}
        choices={choices}
        others={others}
        hint="For recordings without a transcript. Use an OpenAI-compatible or Azure OpenAI provider."
        fault={getFieldState('transcriptionModel', formState).error?.message}
      />
      <SelectField
        name="agentChannel"
        label="Agent’s channel in recordings"
        options={[
          { value: '', label: ofAgent ? 'Organization default' : 'Determined from transcripts' },
          { value: '0', label: 'First (left)' },
          { value: '1', label: 'Second (right)' },
        ]}
      />
    </>
  )
}
