// Declares the member by which Fastify recognizes a validator of Ajv, which its types don't declare. Its version is
// pinned, and fastify-internals.test.ts shows what an update breaks.
import type { ValidateFunction } from 'ajv'

type Check = {
  (value: never, context?: Parameters<ValidateFunction>[1]): boolean
  errors: ValidateFunction['errors'] | undefined
}

/**
 * Returns a function as a validator of Ajv. Fastify passes the request to such a validator, which can then replace the
 * whole value that it checks.
 */
export const asAjvValidator = <T>(check: Check): ValidateFunction<T> =>
  Object.assign(check, { schemaEnv: {} }) as unknown as ValidateFunction<T>
