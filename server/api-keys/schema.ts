import Type, { type Static } from 'typebox'
import { Closed, Nullable, TimestampInput } from '../platform/http/schemas.ts'
import { KeyName, RoleChoice } from '../platform/identity/schema.ts'

export const ApiKeyCreate = Closed({
  name: KeyName,
  role: RoleChoice,
  expiresAt: Type.Optional(Nullable(TimestampInput)),
})
export type ApiKeyCreate = Static<typeof ApiKeyCreate>
