import Type from 'typebox'
import { Choice, Closed, Id, Name, Nullable, Timestamp } from '../http/schemas.ts'
import { entitlementNames, featureNames, roles } from './actor.ts'

/** What several resources show of identity. */

export const RoleChoice = Choice(roles, { description: 'Each role may do all that the ones before it may.' })

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
  role: { ...RoleChoice, description: 'The key never acts above its creator’s present role.' },
  prefix: Type.String({ description: 'The first characters, to tell keys apart.', examples: ['ear_4fZk'] }),
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
      description: 'The key itself. It is shown in this answer alone.',
      examples: ['ear_4fZkW0qLx8mB2cTn7vRj5sHd1gPy9aUe3kQ6zX'],
    }),
  },
  { title: 'CreatedApiKey' },
)
