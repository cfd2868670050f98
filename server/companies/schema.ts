import Type, { type Static } from 'typebox'
import { Closed, Id, Name, Nullable, Timestamp } from '../platform/http/schemas.ts'

const LogoUrl = Type.String({
  minLength: 1,
  maxLength: 2_048,
  description: 'Public `https` URL of the logo, loaded by the viewer’s browser.',
  examples: ['https://cdn.example.com/acme.png'],
})

const CompanyName = { ...Name, examples: ['Acme Dental'] }

export const Company = Closed(
  {
    id: Id,
    name: CompanyName,
    logoUrl: { ...Nullable(LogoUrl), description: 'Null means the default branding.' },
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { title: 'Company' },
)

export const CompanyCreate = Closed({ name: CompanyName, logoUrl: Type.Optional(Nullable(LogoUrl)) })
export type CompanyCreate = Static<typeof CompanyCreate>

export const CompanyUpdate = Closed(
  { name: Type.Optional(CompanyName), logoUrl: Type.Optional(Nullable(LogoUrl)) },
  { minProperties: 1 },
)
export type CompanyUpdate = Static<typeof CompanyUpdate>
