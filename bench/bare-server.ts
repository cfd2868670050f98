// The baseline of the HTTP benchmark: node:http and pg with the same lookup and nothing else.

import { hash } from 'node:crypto'
import { createServer } from 'node:http'
import pg from 'pg'

const [connectionString, organizationId, key] = process.argv.slice(2) as [string, string, string]
const pool = new pg.Pool({ connectionString, max: 10 })
const organizations = new Map([[hash('sha256', key, 'base64'), organizationId]])

const statement = {
  name: 'company',
  text: `SELECT id, name, logo_url AS "logoUrl", created_at AS "createdAt", updated_at AS "updatedAt"
         FROM companies WHERE organization_id = $1 AND id = $2`,
}

const server = createServer(async (request, response) => {
  const organization = organizations.get(hash('sha256', (request.headers.authorization ?? '').slice(7), 'base64'))
  const id = (request.url ?? '').slice('/v1/companies/'.length)
  const { rows } = await pool.query({ ...statement, values: [organization, id] })
  const body = JSON.stringify(rows[0])
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }).end(body)
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (typeof address === 'object') process.stdout.write(`ready at http://127.0.0.1:${address?.port}\n`)
})
