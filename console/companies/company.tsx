import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { answer, api } from '../api/client.ts'
import { isNotFound } from '../api/fault.ts'
import { useMay } from '../api/session.ts'
import { CountLink } from '../filters/count-link.tsx'
import { NotFound } from '../layout/not-found.tsx'
import { announce } from '../ui/announce.tsx'
import { Button, ButtonLink } from '../ui/button.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { lazy } from '../ui/lazy.tsx'
import { Facts, Page, Section } from '../ui/page.tsx'
import { Await, FaultNote } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import styles from './companies.module.css'
import { Logo } from './logo.tsx'
import { type Company as CompanyRecord, companyOptions, refreshCompanies } from './queries.ts'

const CompanyDialog = lazy(async () => (await import('./company-dialog.tsx')).CompanyDialog)

/** Shows the logo, with buttons to upload or remove it. */
const Branding = ({ company, mayWrite }: { company: CompanyRecord; mayWrite: boolean }) => {
  const input = useRef<HTMLInputElement>(null)
  const change = useMutation({
    mutationFn: (file: File | null) => {
      const params = { path: { id: company.id } }
      if (file === null) return answer(api.PATCH('/v1/companies/{id}', { params, body: { logoUrl: null } }))
      return answer(
        api.PUT('/v1/companies/{id}/logo', {
          params,
          body: file,
          bodySerializer: () => file,
          headers: { 'content-type': file.type || 'image/unknown' },
        }),
      )
    },
    onSuccess: refreshCompanies,
  })
  return (
    <div className={styles.branding}>
      <Logo company={company} large />
      {mayWrite && (
        <div className={styles.beside}>
          <div className={styles.ways}>
            <input
              ref={input}
              hidden
              type="file"
              aria-label="Image file"
              accept="image/png,image/jpeg,image/webp,image/gif"
              onChange={({ target }) => {
                const [file] = target.files ?? []
                if (file) change.mutate(file)
                target.value = ''
              }}
            />
            <Button busy={change.isPending} onClick={() => input.current?.click()}>
              Upload logo
            </Button>
            {company.logoUrl !== null && (
              <Button look="quiet" disabled={change.isPending} onClick={() => change.mutate(null)}>
                Remove logo
              </Button>
            )}
          </div>
          <p className={styles.soft}>PNG, JPEG, WebP, or GIF.</p>
        </div>
      )}
      {change.error && <FaultNote error={change.error} />}
    </div>
  )
}

export const Company = () => {
  const { id } = useParams({ from: '/app/companies/$id' })
  const navigate = useNavigate()
  const mayWrite = useMay('member')
  const [asking, setAsking] = useState<'edit' | 'delete'>()
  const query = useQuery(companyOptions(id))
  const { data: company } = query
  const close = () => setAsking(undefined)
  if (isNotFound(query.error)) return <NotFound />
  return (
    <Page
      title={company?.name ?? 'Company'}
      above={<Link to="/companies">Companies</Link>}
      actions={
        <>
          {company && mayWrite && (
            <>
              <Button look="quiet" onClick={() => setAsking('delete')}>
                Delete
              </Button>
              <Button onClick={() => setAsking('edit')}>Edit</Button>
            </>
          )}
          <ButtonLink look="primary" to="/conversations" search={{ filter: { companyIds: [id] } }}>
            View conversations
          </ButtonLink>
        </>
      }
    >
      <Await query={query}>
        {(company) => (
          <>
            <Branding company={company} mayWrite={mayWrite} />
            <Section title="Details">
              <Facts
                facts={[
                  ['Conversations', <CountLink key="count" filter={{ companyIds: [id] }} of={company.name} />],
                  [
                    'Agents',
                    <Link key="agents" to="/agents" search={{ companyId: id }}>
                      View agents
                    </Link>,
                  ],
                  ['Created', <Time key="added" at={company.createdAt} />],
                  ['Updated', <Time key="changed" at={company.updatedAt} />],
                  ['ID', <code key="id">{company.id}</code>],
                ]}
              />
            </Section>
            {asking === 'edit' && <CompanyDialog company={company} onClose={close} />}
            <Confirm
              title={`Delete “${company.name}”?`}
              action="Delete company"
              open={asking === 'delete'}
              onClose={close}
              run={async () => {
                await api.DELETE('/v1/companies/{id}', { params: { path: { id } } })
                announce(`“${company.name}” deleted`)
                await navigate({ to: '/companies' })
                await refreshCompanies()
              }}
            >
              This deletes its name and logo. You can only delete a company without agents or conversations.
            </Confirm>
          </>
        )}
      </Await>
    </Page>
  )
}
