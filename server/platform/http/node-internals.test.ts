import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { responseUnderway } from './node-internals.ts'

it('finds the response to the current request of a connection, and none after it', async () => {
  const found = { isUnderway: false, isLeft: true }
  const closed = Promise.withResolvers<void>()
  const server = createServer((request, response) => {
    found.isUnderway = responseUnderway(request.socket) === response
    response.on('close', () => {
      found.isLeft = responseUnderway(request.socket) !== undefined
      closed.resolve()
    })
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  await closed.promise
  server.closeAllConnections()
  server.close()
  expect(found).toEqual({ isUnderway: true, isLeft: false })
})
