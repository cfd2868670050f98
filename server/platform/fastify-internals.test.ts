import type { DataValidationCxt } from 'ajv/dist/types/index.js'
import Fastify from 'fastify'
import { expect, it } from 'vitest'
import { asAjvValidator } from './fastify-internals.ts'

/** Returns the data that Fastify passes to a body validator in addition to the value. */
const contextOf = async (mark: (check: () => boolean) => unknown): Promise<DataValidationCxt | undefined> => {
  const app = Fastify()
  let context: DataValidationCxt | undefined
  const check = (_value?: unknown, given?: DataValidationCxt) => {
    context = given
    return true
  }
  app.setValidatorCompiler(() => mark(check) as () => boolean)
  app.post('/', { schema: { body: { type: 'object' } } }, async () => 'done')
  const { body } = await app.inject({ method: 'POST', url: '/', payload: {} })
  expect(body).toBe('done')
  await app.close()
  return context
}

it('makes Fastify pass the request to a validator', async () => {
  const context = await contextOf((check) => asAjvValidator(Object.assign(check, { errors: undefined })))
  expect(context).toMatchObject({ parentData: { body: {} }, parentDataProperty: 'body' })
})

it('is still needed: Fastify passes only the value to other functions', async () => {
  expect(await contextOf((check) => check)).toBeUndefined()
})
