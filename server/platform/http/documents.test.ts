import { createConfig, lintFromString } from '@redocly/openapi-core'
import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, it } from 'vitest'
import { testServer } from '../../../test/server.ts'
import type { OpenApiDocument } from './openapi.ts'

const { call } = await testServer()

const listed = async () => {
  const { body } = await call<OpenApiDocument>('GET', '/openapi.json')
  return Object.entries(body.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, operation })),
  )
}

describe('/openapi.json', () => {
  it('is a valid OpenAPI 3.1 document, for anyone', async () => {
    const { status, headers, body } = await call('GET', '/openapi.json')
    expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8'])
    const validator = new Validator()
    expect(await validator.validate(body)).toEqual({ valid: true })
    expect(validator.version).toBe('3.1')
  })

  it('refers to nothing that it does not contain', async () => {
    const { text, body } = await call<OpenApiDocument>('GET', '/openapi.json')
    const names = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref]) => String(ref))
    expect(names.length).toBeGreaterThan(10)
    for (const ref of names) {
      const [, name = ''] = /^#\/components\/schemas\/(\w+)$/.exec(ref) ?? []
      expect(Object.keys(body.components.schemas)).toContain(name)
    }
  })

  it('satisfies Redocly’s recommended rules', async () => {
    const { text } = await call('GET', '/openapi.json')
    const config = await createConfig({
      extends: ['recommended'],
      rules: {
        // Cekura's clients send requests to this path, and the paths of experiments share a prefix.
        'no-path-trailing-slash': 'off',
        'no-ambiguous-paths': 'off',
        // Callers can't cause errors in these reads. `default` covers all other errors.
        'operation-4xx-response': 'off',
        // The rule reports properties next to `if` and `then` as unknown. test/contract.test.ts checks every example
        // instead.
        'no-invalid-media-type-examples': 'off',
      },
    })
    const problems = await lintFromString({ source: text, absoluteRef: '/openapi.json', config })
    expect(problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual([])
  })

  it('names its server and its license', async () => {
    const { body } = await call<OpenApiDocument>('GET', '/openapi.json')
    expect(body.servers).toEqual([{ url: '/' }])
    expect(body.info.license).toEqual({ name: 'Apache License 2.0', identifier: 'Apache-2.0' })
  })

  it('describes every operation in other words than its summary', async () => {
    for (const { name, operation } of await listed()) {
      expect(operation.description, name).toMatch(/^[\w`].{15,}\.$/s)
      expect(operation.description, name).not.toContain(operation.summary)
    }
  })

  it('makes optional bodies optional, and never null', async () => {
    const optional: string[] = []
    for (const { name, operation } of await listed()) {
      if (operation.requestBody?.required === false) optional.push(name)
      for (const { schema } of Object.values(operation.requestBody?.content ?? {})) {
        expect([schema.type].flat(), name).not.toContain('null')
      }
    }
    expect(optional).toHaveLength(31)
    expect(optional).toContain('POST /v1/experiments/{id}/evaluations')
    expect(optional).toContain('POST /v1/experiments/{id}/finish')
  })

  it('describes the items of every list, and contains no keyword of ours', async () => {
    const { body } = await call<OpenApiDocument>('GET', '/openapi.json')
    const check = (node: unknown, at: string): void => {
      if (typeof node !== 'object' || node === null) return
      const { type } = node as { type?: unknown }
      if (!Array.isArray(node) && [type].flat().includes('array')) expect(node, at).toHaveProperty('items')
      expect(node, at).not.toHaveProperty('x-instant')
      for (const [name, inner] of Object.entries(node)) check(inner, `${at}/${name}`)
    }
    check(body, '')
  })

  it('lists the headers of responses, and no content for redirects', async () => {
    const operations = await listed()
    const headersOf = (id: string, status: string) =>
      Object.keys(
        operations.find(({ operation }) => operation.operationId === id)?.operation.responses[status]?.headers ?? {},
      )
    const responses = operations.flatMap(({ name, operation }) =>
      Object.entries(operation.responses).map(([status, response]) => ({ name, status, ...response })),
    )
    for (const { name, status, headers = {}, content } of responses) {
      if (status === '201' || status === '302') expect(headers, name).toHaveProperty('Location')
      if (status === '302') expect(content, name).toBeUndefined()
      if (['429', '503', 'default'].includes(status)) expect(headers, name).toHaveProperty('Retry-After')
    }
    for (const kind of ['Monitor', 'Experiment']) {
      expect(headersOf(`create${kind}Export`, '202')).toEqual(['Location', 'Retry-After', 'Idempotent-Replayed'])
      expect(headersOf(`get${kind}Export`, '200')).toEqual(['Retry-After'])
      expect(headersOf(`download${kind}Export`, '302')).toEqual(['Location', 'X-File-Digest'])
    }
    expect(headersOf('getFile', '200')).toEqual(['Repr-Digest'])
  })
})
