import type { RouteOptions } from 'fastify'
import { ApiError } from '../errors.ts'
import type { Actor, Entitlement, Feature, Role, ServiceActor } from '../identity/actor.ts'
import { hasRole } from '../identity/actor.ts'
import { requireEntitlement } from '../identity/entitlements.ts'
import type { JsonSchema } from './examples.ts'
import type { BodyKind } from './read-body.ts'

/**
 * The permitted callers of a route, and the features that their organization needs. The service doesn't start unless
 * every route declares one of these.
 */
export type Access =
  /** Anyone can call the route, for example a health check, a document, or a signed link. */
  | 'public'
  /** Only the service key can call the route. */
  | 'service'
  /** The route requires a key or session of an organization with at least this role. */
  | { role: Role; entitlement?: Entitlement; feature?: Feature }

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access
    /** The format of the body. JSON is the default. */
    takes?: BodyKind
    /** The property of a JSON body that contains a long list. Its items are read one by one. */
    list?: string
    /** The property of a JSON body, or of each item, that the handler receives as text if it is long. */
    apart?: string
    /** An additional header that can contain the key, for clients of another service that send it there. */
    keyHeader?: string
    /** Senders from other services add arbitrary properties, so the body of this route is not strict. */
    foreign?: true
    /** The reason why a route that writes records no audit event. */
    unaudited?: string
    /** Set for a route that only reads but records an audit event. */
    audited?: true
  }
  interface FastifyRequest {
    /** The caller of a route that requires a role. */
    actor: Actor
    /** The caller of a route that requires the service key. */
    service: ServiceActor
  }
}

/**
 * If one of these features is disabled, the request is forbidden. If one of the other features is missing, it is
 * unavailable.
 */
const forbidding: ReadonlySet<Feature> = new Set(['experimentsV2'])

/**
 * Throws if the caller may not use the route: 403 errors come before 503 errors. These checks run after the key is
 * verified and before the body is read.
 */
export const checkAccess = (actor: Actor, access: Exclude<Access, string>): void => {
  if (actor.suspended) throw new ApiError('forbidden', 'The organization is suspended.')
  if (!hasRole(actor.role, access.role)) {
    throw new ApiError('forbidden', `This requires the role ${access.role} or higher, but your role is ${actor.role}.`)
  }
  if (access.entitlement) requireEntitlement(actor, access.entitlement)
  if (access.feature && !actor.features[access.feature]) {
    const kind = forbidding.has(access.feature) ? 'forbidden' : 'unavailable'
    throw new ApiError(kind, 'This feature is disabled for your organization.')
  }
}

/** Returns the path at which a schema implicitly allows unlisted properties. */
const openObject = (schema: JsonSchema | undefined, path: string): string | undefined => {
  if (schema === undefined) return undefined
  const { properties = {}, additionalProperties, items, anyOf = [] } = schema
  if (schema.properties && additionalProperties === undefined) return path
  const parts: [JsonSchema | undefined, string][] = [
    ...Object.entries(properties).map(([name, property]): [JsonSchema, string] => [property, `${path}.${name}`]),
    ...anyOf.map((choice): [JsonSchema, string] => [choice, path]),
    [items, `${path}[]`],
  ]
  for (const [part, at] of parts) {
    const open = openObject(part, at)
    if (open) return open
  }
  return undefined
}

/** Checks the declarations of a route. Throws at startup, before the first request. */
// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: this is a list of checks
export const assertDeclared = (route: RouteOptions): void => {
  const methods = [route.method].flat()
  const name = `${methods.join(',')} ${route.url}`
  const fault = (text: string) => new Error(`The route ${name} ${text}.`)
  const config = route.config
  if (!config?.access) throw fault('declares no access')
  const schema = (route.schema ?? {}) as Record<string, unknown>
  if (schema.hide) return
  for (const part of ['summary', 'operationId', 'tags', 'response']) {
    if (!schema[part]) throw fault(`declares no ${part}`)
  }
  if (!(schema.response as Record<string, unknown>).default) throw fault('declares no default error response')
  // A doubled colon does not start a parameter.
  if (route.url.replaceAll('::', '').includes(':') && !schema.params)
    throw fault('declares no schema for its path parameters')
  if (!schema.querystring) throw fault('declares no schema for its query string')
  const takesBody = methods.some((method) => method === 'POST' || method === 'PUT' || method === 'PATCH')
  if (takesBody && !schema.body) throw fault('declares no schema for its body')
  if (config.foreign) return
  for (const part of ['params', 'querystring', 'body']) {
    const open = openObject(schema[part] as JsonSchema | undefined, part)
    if (open) throw fault(`leaves ${open} open to unknown properties`)
  }
}
