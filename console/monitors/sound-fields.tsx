import { useFormContext } from 'react-hook-form'
import { Row } from '../ui/controls.tsx'
import { SelectField, TextField } from '../ui/form.tsx'
import type { Draft } from './draft.ts'

/** Selects whether the model also hears the recording, and which excerpts of it. */
export const SoundFields = () => {
  const { watch } = useFormContext<Draft>()
  const hears = watch('judge.hears')
  return (
    <>
      <SelectField
        name="judge.hears.input"
        label="Model input"
        options={[
          { value: 'transcript', label: 'Transcript' },
          { value: 'sound', label: 'Transcript and sound' },
        ]}
        hint={
          hears.input === 'sound'
            ? 'Choose a model that accepts audio (OpenAI-compatible or Google provider). Sound costs more than text.'
            : undefined
        }
      />
      {hears.input === 'sound' && (
        <>
          <TextField
            name="judge.hears.expression"
            label="Limit to turns (optional)"
            maxLength={10_000}
            placeholder="turns.by('customer').mentions('refund')"
            hint="A CEL rule. The model listens to the matching turns. Leave empty for the whole call, up to 7 minutes."
          />
          {hears.expression.trim() !== '' && (
            <Row>
              <TextField
                name="judge.hears.beforeSeconds"
                label="Seconds before"
                type="number"
                min={0}
                max={60}
                step="any"
              />
              <TextField
                name="judge.hears.afterSeconds"
                label="Seconds after"
                type="number"
                min={0}
                max={60}
                step="any"
              />
            </Row>
          )}
        </>
      )}
    </>
  )
}
