import { fastify } from 'fastify'
import { expect, it } from 'vitest'
import { addFailures } from './failures.ts'
import { watchMethods } from './methods.ts'

it('answers an aborted request in the format of the API, although the error’s code is a number', async () => {
  const app = fastify()
  addFailures(app, watchMethods(app))
  app.get('/aborted', async () => AbortSignal.abort().throwIfAborted())
  const { statusCode, body } = await app.inject('/aborted')
  expect([statusCode, JSON.parse(body)]).toMatchObject([500, { error: 'internal error' }])
  await app.close()
})
