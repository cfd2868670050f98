import type { RouteOptions } from 'fastify'
import Type from 'typebox'
import { describe, expect, it } from 'vitest'
import { assertDeclared } from './access.ts'
import { answers, Closed, IdParams, NoQuery } from './schemas.ts'

const sound: RouteOptions = {
  method: 'POST',
  url: '/v1/things/:id',
  config: { access: { role: 'member' } },
  schema: {
    tags: ['Things'],
    operationId: 'changeThing',
    summary: 'Change a thing',
    params: IdParams,
    querystring: NoQuery,
    body: Closed({ parts: Type.Array(Closed({ name: Type.String() })) }),
    response: answers({ 200: Closed({ id: Type.String() }) }, 404),
  } as NonNullable<RouteOptions['schema']>,
  handler: () => {},
}

const without = (part: string): RouteOptions => ({
  ...sound,
  schema: Object.fromEntries(Object.entries(sound.schema ?? {}).filter(([name]) => name !== part)),
})

const withBody = (body: object): RouteOptions => ({ ...sound, schema: { ...sound.schema, body } })

describe('the boot', () => {
  it('accepts a route with a complete declaration', () => {
    expect(() => assertDeclared(sound)).not.toThrow()
  })

  it('rejects a route without access, with its name', () => {
    expect(() => assertDeclared({ ...sound, config: {} })).toThrow('POST /v1/things/:id declares no access')
  })

  it.each(['tags', 'operationId', 'summary', 'params', 'querystring', 'body', 'response'])(
    'rejects a route without %s',
    (part) => {
      expect(() => assertDeclared(without(part))).toThrow('The route POST /v1/things/:id declares no')
    },
  )

  it('rejects a route without a default error response', () => {
    const response = { 200: Closed({ id: Type.String() }) }
    expect(() =>
      assertDeclared({ ...sound, schema: { ...sound.schema, response } as NonNullable<RouteOptions['schema']> }),
    ).toThrow('no default error response')
  })

  it('rejects a body that allows unknown properties at any depth', () => {
    expect(() => assertDeclared(withBody(Type.Object({ name: Type.String() })))).toThrow('leaves body open')
    const deep = Closed({ parts: Type.Array(Type.Object({ name: Type.String() })) })
    expect(() => assertDeclared(withBody(deep))).toThrow('leaves body.parts[] open')
    const choice = Closed({ part: Type.Union([Closed({}), Type.Object({ name: Type.String() })]) })
    expect(() => assertDeclared(withBody(choice))).toThrow('leaves body.part open')
  })

  it('allows an open body for a foreign sender', () => {
    const foreign: RouteOptions = {
      ...withBody(Type.Object({ name: Type.String() })),
      config: { access: 'public', foreign: true },
    }
    expect(() => assertDeclared(foreign)).not.toThrow()
  })
})
