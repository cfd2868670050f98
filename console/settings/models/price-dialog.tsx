import { useMutation } from '@tanstack/react-query'
import { useForm } from 'react-hook-form'
import { Button } from '../../ui/button.tsx'
import { Row } from '../../ui/controls.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Form, TextField } from '../../ui/form.tsx'
import { changeProvider, type ModelPrice, type Provider } from './queries.ts'

type Values = Record<'input' | 'output' | 'cachedInput' | 'cacheWrite' | 'audioInput' | 'audioMinute', string>

const textOf = (value: number | null | undefined): string =>
  value === null || value === undefined ? '' : String(value)

const priceOf = ({ input, output, cachedInput, cacheWrite, audioInput, audioMinute }: Values) => ({
  input: Number(input),
  output: Number(output),
  ...(cachedInput !== '' && { cachedInput: Number(cachedInput) }),
  ...(cacheWrite !== '' && { cacheWrite: Number(cacheWrite) }),
  ...(audioInput !== '' && { audioInput: Number(audioInput) }),
  ...(audioMinute !== '' && { audioMinute: Number(audioMinute) }),
})

const amount = { type: 'number', min: 0, step: 'any' } as const

const RemovePrice = ({ run }: { run: () => Promise<void> }) => {
  const remove = useMutation({ mutationFn: run })
  return (
    <Button busy={remove.isPending} onClick={() => remove.mutate()}>
      Use the bundled price
    </Button>
  )
}

/** Sets a model's price, or goes back to the bundled price. */
export const PriceDialog = ({
  provider: { id, prices },
  model,
  price,
  onClose,
}: {
  provider: Provider
  model: string
  price: ModelPrice | null
  onClose: () => void
}) => {
  const { [model]: own, ...others } = prices
  const form = useForm<Values>({
    defaultValues: {
      input: textOf(price?.input),
      output: textOf(price?.output),
      cachedInput: textOf(price?.cachedInput),
      cacheWrite: textOf(price?.cacheWrite),
      audioInput: textOf(own?.audioInput),
      audioMinute: textOf(own?.audioMinute),
    },
  })
  const send = async (values: Values) => {
    await changeProvider(id, { prices: { ...others, [model]: { ...own, ...priceOf(values) } } })
    onClose()
  }
  const remove = async () => {
    await changeProvider(id, { prices: others })
    onClose()
  }
  return (
    <Dialog title={`Price of ${model}`} open onClose={onClose} holds>
      <p>In US dollars per million tokens, except for transcription. Applies to new results.</p>
      <Form
        form={form}
        send={send}
        submit="Save"
        fieldOf={(path) => path.replace(/^.*\./, '')}
        {...(own && { beside: <RemovePrice run={remove} /> })}
      >
        <Row>
          <TextField name="input" label="Input" required {...amount} />
          <TextField name="output" label="Output" required {...amount} />
        </Row>
        <Row>
          <TextField name="cachedInput" label="Cached input (optional)" {...amount} />
          <TextField name="cacheWrite" label="Cache writes (optional)" {...amount} />
        </Row>
        <Row>
          <TextField name="audioInput" label="Sound (optional)" {...amount} />
          <TextField name="audioMinute" label="Transcription per minute (optional)" {...amount} />
        </Row>
      </Form>
    </Dialog>
  )
}
