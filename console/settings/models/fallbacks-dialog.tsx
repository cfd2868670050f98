import { useState } from 'react'
import { useForm } from 'react-hook-form'
import { useList } from '../../api/queries.ts'
import { Chooser } from '../../ui/chooser.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Form } from '../../ui/form.tsx'
import { changeProvider, type Provider, providersOptions } from './queries.ts'

export const FallbacksDialog = ({ provider, onClose }: { provider: Provider; onClose: () => void }) => {
  const [ids, setIds] = useState(provider.fallbackProviderIds)
  const { rows = [] } = useList(providersOptions)
  const form = useForm()
  const send = async () => {
    await changeProvider(provider.id, { fallbackProviderIds: ids })
    onClose()
  }
  const others = rows.filter(({ id }) => id !== provider.id).map(({ id, name }) => ({ value: id, label: name }))
  return (
    <Dialog title="Edit fallbacks" open onClose={onClose} holds>
      <Form form={form} send={send} submit="Save">
        <Chooser
          label="Fallbacks"
          hint="Used in this order, with their default models, if this provider is down or busy for long, rejects its key, or doesn’t have the model. Results say which model answered."
          options={others}
          value={ids}
          onChange={setIds}
          placeholder={others.length === 0 ? 'Add another provider first' : 'Choose providers'}
        />
      </Form>
    </Dialog>
  )
}
