// Uses each generated client like its users would. tools/check-clients.ts checks the types.

import createClient from 'openapi-fetch'
import { createCompany, listCompanies } from './hey-api/sdk.gen.ts'
import { zCompany } from './hey-api/zod.gen.ts'
import type { paths } from './openapi-typescript/schema.ts'
import * as orval from './orval/fetch.ts'
import { CreateCompanyBody, ListCompaniesResponse } from './orval/zod.ts'

type Company = { id: string; name: string; logoUrl: string | null }

const { GET, POST } = createClient<paths>({ baseUrl: 'http://127.0.0.1:4000' })

export const withOpenApiTypescript = async (): Promise<Company[]> => {
  const created = await POST('/v1/companies', { body: { name: 'Acme' } })
  const listed = await GET('/v1/companies', { params: { query: { limit: 10 } } })
  // @ts-expect-error: a company needs a name.
  await POST('/v1/companies', { body: {} })
  return [...(created.data ? [created.data] : []), ...(listed.data?.data ?? [])]
}

export const withHeyApi = async (): Promise<Company[]> => {
  const created = await createCompany({ body: { name: 'Acme' } })
  const listed = await listCompanies({ query: { limit: 10 } })
  // @ts-expect-error: a company needs a name.
  await createCompany({ body: {} })
  return [...(created.data ? [zCompany.parse(created.data)] : []), ...(listed.data?.data ?? [])]
}

export const withOrval = async (): Promise<Company[]> => {
  const created = await orval.createCompany(CreateCompanyBody.parse({ name: 'Acme' }))
  const listed = await orval.listCompanies({ limit: 10 })
  // @ts-expect-error: a company needs a name.
  await orval.createCompany({})
  const companies = listed.status === 200 ? ListCompaniesResponse.parse(listed.data).data : []
  return [...(created.status === 201 ? [created.data] : []), ...companies]
}
