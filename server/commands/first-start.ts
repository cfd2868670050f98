import type { Deps } from '../deps.ts'
import { provisionOrganization } from '../organizations/provision.ts'
import { organizationExists } from '../organizations/queries.ts'
import { invitationUrl } from '../sign-in/invite.ts'

const slug = 'my-organization'

/** Makes the first organization of a fresh embedded instance. What it answers is shown once and kept nowhere. */
export const firstStart = async ({ db, clock, baseUrl }: Deps): Promise<string> => {
  if (await organizationExists(db)) return ''
  const { apiKey, invitation } = await db.transaction().execute((trx) =>
    provisionOrganization(trx, clock, {
      name: 'My organization',
      slug,
      owner: { email: 'owner@localhost.localdomain', name: 'Owner' },
    }),
  )
  return `
First start: an organization was made for you.
  Sign in    ${invitationUrl(baseUrl(), invitation)}
  Owner key  ${apiKey.key}
  Try it     curl -H "Authorization: Bearer ${apiKey.key}" ${baseUrl()}/v1/me
The link works once, within seven days; bin/earshot link ${slug} makes another.
The key is shown this once; bin/earshot keys owner ${slug} makes another.
`
}
