import { useForm } from 'react-hook-form'
import { answer, api } from '../api/client.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Form, TextField } from '../ui/form.tsx'
import { type Company, refreshCompanies } from './queries.ts'

type Values = { name: string; logoUrl: string }

/** Creates a company, or edits the given one. */
export const CompanyDialog = ({
  company,
  onClose,
  onSaved,
}: {
  company?: Company
  onClose: () => void
  onSaved?: (company: Company) => void
}) => {
  const form = useForm<Values>({ defaultValues: { name: company?.name ?? '', logoUrl: company?.logoUrl ?? '' } })
  const send = async ({ name, logoUrl }: Values) => {
    const logo = logoUrl.trim() || null
    // Only changes are sent, because the API rejects the URL of an uploaded logo.
    const body = { name: name.trim(), ...(logo !== (company?.logoUrl ?? null) && { logoUrl: logo }) }
    const saved = await answer(
      company
        ? api.PATCH('/v1/companies/{id}', { params: { path: { id: company.id } }, body })
        : api.POST('/v1/companies', { body }),
    )
    await refreshCompanies()
    onClose()
    onSaved?.(saved)
  }
  return (
    <Dialog title={company ? 'Edit company' : 'Create company'} open holds onClose={onClose}>
      <Form form={form} send={send} submit={company ? 'Save' : 'Create company'}>
        <TextField name="name" label="Name" required maxLength={255} />
        <TextField
          name="logoUrl"
          label="Logo URL"
          type="url"
          inputMode="url"
          maxLength={2048}
          placeholder="https://"
          hint="A public HTTPS URL, loaded by each viewer’s browser. To upload an image instead, open the company’s page."
        />
      </Form>
    </Dialog>
  )
}
