import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ServiceDeps } from '../../../server/deps.ts'
import { strict } from '../../../server/platform/json-schema.ts'
import { depsWith } from '../deps-with.ts'
import { openReceiver } from '../webhooks/receiver.ts'
import { redirectTo } from './redirect.ts'
import { opsgenieSchemas, pagerdutySchema, slackSchema, teamsSchema } from './schemas.ts'

/**
 * Starts fake services that only accept messages in the published format. Each is a real HTTPS server on this machine.
 */

const validators = {
  slack: strict.compile(slackSchema),
  teams: strict.compile(teamsSchema),
  pagerduty: strict.compile(pagerdutySchema),
  create: strict.compile(opsgenieSchemas.create),
  update: strict.compile(opsgenieSchemas.update),
}

/** The schema of the message that a request must contain, and the status that accepts it. */
const rules: { path: RegExp; schema: keyof typeof validators; status: number }[] = [
  { path: /^\/services\//, schema: 'slack', status: 200 },
  { path: /^\/workflows\//, schema: 'teams', status: 202 },
  { path: /^\/v2\/enqueue$/, schema: 'pagerduty', status: 202 },
  { path: /^\/v2\/alerts$/, schema: 'create', status: 202 },
  { path: /^\/v2\/alerts\/[^/]+\/(acknowledge|close)\?identifierType=alias$/, schema: 'update', status: 202 },
]

export type Sent = { path: string; authorization: string | undefined; body: Record<string, unknown> }

type Refusal = { status: number; headers?: Record<string, string> }

export const openFakes = async (deps: ServiceDeps) => {
  const sent: Sent[] = []
  /** Responses to use first, one for each request. */
  const refusals: Refusal[] = []
  const receiver = await openReceiver((request: IncomingMessage, response: ServerResponse) => {
    const { url: path = '', headers } = request
    const raw = receiver.received.at(-1)?.body ?? ''
    const refusal = refusals.shift()
    if (refusal) return void response.writeHead(refusal.status, refusal.headers).end()
    const rule = rules.find((each) => each.path.test(path))
    if (!rule) return void response.writeHead(404).end('no_service')
    const body = JSON.parse(raw)
    const validate = validators[rule.schema]
    if (!validate(body)) return void response.writeHead(400).end(JSON.stringify(validate.errors))
    sent.push({ path, authorization: headers.authorization, body })
    response.writeHead(rule.status).end('ok')
  })
  const origin = new URL(receiver.url).origin
  return { origin, sent, refusals, deps: depsWith(deps, { outbound: redirectTo(deps.outbound, origin) }) }
}
