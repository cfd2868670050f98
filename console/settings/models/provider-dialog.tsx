import { useQuery } from '@tanstack/react-query'
import { useForm } from 'react-hook-form'
import { answer, api } from '../../api/client.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { CheckField, Form, SelectField, TextField } from '../../ui/form.tsx'
import { hasKey, type ProviderDraft, providerDraftOf, settingsOf } from './draft.ts'
import { providerKinds } from './kinds.ts'
import { changeProvider, offeredOptions, type Provider, refreshProviders } from './queries.ts'

const kindOptions = Object.entries(providerKinds).map(([value, { name }]) => ({ value, label: name }))

const outputOptions = [
  { value: 'schema', label: 'JSON schema' },
  { value: 'prompt', label: 'Described in the prompt' },
]

/** Suggests the provider's models during typing. A new provider has no list yet. */
const ModelField = ({ provider, kind }: { provider: Provider | undefined; kind: Provider['kind'] }) => {
  const { data } = useQuery({ ...offeredOptions(provider?.id ?? ''), enabled: provider !== undefined })
  const { modelLabel = 'Default model (optional)', modelPlaceholder } = providerKinds[kind]
  const hint = provider
    ? 'Used by judges that don’t choose a model.'
    : 'Used by judges that don’t choose a model. You can also choose it from the provider’s list afterwards.'
  return (
    <>
      <TextField
        name="model"
        label={modelLabel}
        hint={hint}
        placeholder={modelPlaceholder}
        maxLength={200}
        list="offered-models"
      />
      <datalist id="offered-models">
        {data?.data.map(({ id, name }) => (
          <option key={id} value={id}>
            {name ?? id}
          </option>
        ))}
      </datalist>
    </>
  )
}

/** Creates a provider, or edits the given one. */
export const ProviderDialog = ({
  provider,
  onClose,
  onSaved,
}: {
  provider?: Provider
  onClose: () => void
  onSaved?: (id: string) => void
}) => {
  const form = useForm<ProviderDraft>({ defaultValues: providerDraftOf(provider) })
  const kind = form.watch('kind')
  const { fields, caching } = providerKinds[kind]
  const send = async (draft: ProviderDraft) => {
    const body = { name: draft.name.trim(), settings: settingsOf(draft) }
    if (provider) await changeProvider(provider.id, body)
    else {
      const { id } = await answer(api.POST('/v1/model-providers', { body: { ...body, kind: draft.kind } }))
      await refreshProviders()
      onSaved?.(id)
    }
    onClose()
  }
  return (
    <Dialog title={provider ? 'Edit provider' : 'Add provider'} open onClose={onClose} holds>
      <Form
        form={form}
        send={send}
        submit={provider ? 'Save' : 'Add provider'}
        fieldOf={(path) => path.replace(/^settings\./, '')}
      >
        {!provider && <SelectField name="kind" label="Type" options={kindOptions} />}
        <TextField name="name" label="Name" required maxLength={100} placeholder={providerKinds[kind].name} />
        {fields.map(({ name, label, hint, placeholder, required, secret }) => {
          const isStored = provider !== undefined && hasKey(provider.settings, name)
          return (
            <TextField
              key={name}
              name={name}
              label={label}
              maxLength={2048}
              required={required === true && !isStored}
              {...(secret && { type: 'password', autoComplete: 'new-password' })}
              {...(placeholder && { placeholder })}
              hint={isStored ? `Leave empty to keep ${String(provider.settings[name])}.` : hint}
            />
          )
        })}
        <ModelField provider={provider} kind={kind} />
        <SelectField
          name="structuredOutput"
          label="Answer format"
          hint="Change this if the test says that the model rejects the request or doesn’t answer in the right format."
          options={outputOptions}
        />
        {caching && (
          <CheckField
            name="promptCaching"
            label="Cache instructions"
            hint={
              caching === 'on'
                ? 'Long criteria cost less when many conversations are judged.'
                : 'Long criteria cost less when many conversations are judged. Only some models allow it.'
            }
          />
        )}
      </Form>
    </Dialog>
  )
}
