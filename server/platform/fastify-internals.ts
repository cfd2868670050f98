// Declares the member that Fastify uses to recognize an Ajv validator, which is missing from its types. Its version is
// pinned, and the tests in fastify-internals.test.ts fail if an update changes it.
import type { ValidateFunction } from 'ajv'

type Check = {
  (value: never, context?: Parameters<ValidateFunction>[1]): boolean
  errors: ValidateFunction['errors'] | undefined
}

/**
 * Converts a function to an Ajv validator. Fastify passes the request to such a validator, which can then replace the
 * entire value that it checks.
 */
export const asAjvValidator = <T>(check: Check): ValidateFunction<T> =>
  Object.assign(check, { schemaEnv: {} }) as unknown as ValidateFunction<T>
