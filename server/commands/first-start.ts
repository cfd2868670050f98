import type { ServiceDeps } from '../deps.ts'
import { provisionOrganization } from '../organizations/provision.ts'
import { organizationExists } from '../organizations/queries.ts'
import { placeholderAddress } from '../sign-in/address/placeholder.ts'
import { handOver } from './credentials.ts'

const slug = 'my-organization'

/** Creates the first organization in a new embedded instance. Returns the text to print. */
export const firstStart = async (deps: ServiceDeps, printCredentials: boolean): Promise<string> => {
  const { db, config, baseUrl } = deps
  if (await organizationExists(db)) return ''
  return db.transaction().execute(async (trx) => {
    const { apiKey, invitationUrl } = await provisionOrganization(deps, trx, {
      name: 'My organization',
      slug,
      owner: { email: placeholderAddress('owner'), name: 'Owner' },
    })
    const text = `
First start: an organization was created for you.
  Sign in    ${invitationUrl}
  Owner key  ${apiKey.key}
  Try it     curl -H "Authorization: Bearer ${apiKey.key}" ${baseUrl()}/v1/me
The link works once and expires in seven days. To create another, run bin/earshot link ${slug}.
The key is only shown once. To create another, run bin/earshot keys owner ${slug}.
`
    // The credentials are written before the organization is stored, so that there is always a way to sign in.
    return handOver({ dataDir: config.dataDir, printCredentials }, text)
  })
}
