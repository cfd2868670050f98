import Type from 'typebox'
import { Choice, Closed, Id, Name, Nullable, Timestamp } from '../http/schemas.ts'
import { entitlementNames, featureNames, roles } from './actor.ts'

/** Schemas that several resources use. */

export const RoleChoice = Choice(roles, { description: 'Each role includes the permissions of the roles before it.' })

const switchesOf = <const N extends string>(names: readonly N[]) =>
  Closed(Object.fromEntries(names.map((name) => [name, Type.Boolean()])) as Record<N, Type.TBoolean>)

const someSwitchesOf = <const N extends string>(names: readonly N[]) =>
  Closed(
    Object.fromEntries(names.map((name) => [name, Type.Optional(Type.Boolean())])) as Record<
      N,
      Type.TOptional<Type.TBoolean>
    >,
    { minProperties: 1 },
  )

export const Entitlements = switchesOf(entitlementNames)
export const Features = switchesOf(featureNames)
export const SomeEntitlements = someSwitchesOf(entitlementNames)
export const SomeFeatures = someSwitchesOf(featureNames)

export const KeyName = { ...Name, examples: ['Warehouse sync'] }

const apiKeyProperties = {
  id: Id,
  name: KeyName,
  role: { ...RoleChoice, description: 'The key’s role never exceeds its creator’s current role.' },
  prefix: Type.String({ description: 'The first characters, to identify the key.', examples: ['ear_4fZk'] }),
  expiresAt: Nullable(Timestamp),
  lastUsedAt: Nullable(Timestamp),
  revokedAt: Nullable(Timestamp),
  createdByUserId: Id,
  createdAt: Timestamp,
}

export const ApiKey = Closed(apiKeyProperties, { title: 'ApiKey' })

export const CreatedApiKey = Closed(
  {
    ...apiKeyProperties,
    key: Type.String({
      description: 'The key itself, shown only in this response.',
      examples: ['ear_4fZkW0qLx8mB2cTn7vRj5sHd1gPy9aUe3kQ6zX'],
    }),
  },
  { title: 'CreatedApiKey' },
)
