import { useForm } from 'react-hook-form'
import { answer, api } from '../api/client.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Form, TextField } from '../ui/form.tsx'
import { type Company, refreshCompanies } from './queries.ts'

type Values = { name: string; logoUrl: string }

/** Adds a company, or changes the one that it is given. */
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
    // What is not changed is not sent: an uploaded logo has an address that only the service gives.
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
    <Dialog title={company ? 'Edit the company' : 'Add a company'} open holds onClose={onClose}>
      <Form form={form} send={send} submit={company ? 'Save' : 'Add the company'}>
        <TextField name="name" label="Name" required maxLength={255} />
        <TextField
          name="logoUrl"
          label="Logo address"
          type="url"
          inputMode="url"
          maxLength={2048}
          placeholder="https://"
          hint="A public https address, which the browser of whoever looks loads. An image can be uploaded on the company’s page instead."
        />
      </Form>
    </Dialog>
  )
}
