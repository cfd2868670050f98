import { createHash } from 'node:crypto'
import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, it } from 'vitest'
import { testServer } from '../../../test/server.ts'
import type { OpenApiDocument } from './openapi.ts'
import { referencePage } from './reference-page.ts'

const { call } = await testServer()

describe('/openapi.json', () => {
  it('is a valid document of OpenAPI 3.1, for anyone', async () => {
    const { status, headers, body } = await call('GET', '/openapi.json')
    expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8'])
    const validator = new Validator()
    expect(await validator.validate(body)).toEqual({ valid: true })
    expect(validator.version).toBe('3.1')
  })

  it('refers to nothing that it does not hold', async () => {
    const { text, body } = await call<OpenApiDocument>('GET', '/openapi.json')
    const names = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref]) => String(ref))
    expect(names.length).toBeGreaterThan(10)
    for (const ref of names) {
      const [, name = ''] = /^#\/components\/schemas\/(\w+)$/.exec(ref) ?? []
      expect(Object.keys(body.components.schemas)).toContain(name)
    }
  })
})

describe('/docs', () => {
  it('runs nothing, loads nothing, and its one style is the one that its policy allows', async () => {
    const { status, headers, text } = await call('GET', '/docs')
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(text).not.toMatch(/<script|<link|<img|<iframe|<object|<embed|@import|url\(|\son\w+=|\sstyle=|javascript:/i)
    expect([...text.matchAll(/\s(?:src|href)="([^"#/][^"]*)"/g)].map(([, target]) => target)).toEqual([])
    const styles = [...text.matchAll(/<style>([\s\S]*?)<\/style>/g)].map(([, style]) => String(style))
    expect(styles).toHaveLength(1)
    const hash = createHash('sha256').update(String(styles[0])).digest('base64')
    const policy = headers.get('content-security-policy')
    expect(policy).toContain(`style-src 'sha256-${hash}'`)
    expect(policy).toContain("default-src 'none'")
  })

  it('has a place for every operation and every schema, and no link that leads nowhere', async () => {
    const { text } = await call('GET', '/docs')
    const { body } = await call<OpenApiDocument>('GET', '/openapi.json')
    const ids = [...text.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => String(id))
    expect(new Set(ids).size).toBe(ids.length)
    for (const operation of Object.values(body.paths).flatMap((methods) => Object.values(methods))) {
      expect(ids).toContain(operation.operationId)
    }
    for (const [, target] of text.matchAll(/href="#([^"]+)"/g)) expect(ids).toContain(target)
  })

  it('shows what stands in the document as text, whatever it is', () => {
    const evil = '"><x onload="alert(1)">\'&amp;`<x>`'
    const operation = {
      operationId: evil,
      summary: evil,
      description: evil,
      tags: [evil],
      parameters: [{ name: evil, in: 'query', schema: { type: 'string', description: evil, enum: [evil] } }],
      responses: {
        200: { description: evil, content: { 'application/json': { schema: { type: 'object' }, example: evil } } },
      },
      'x-access': 'public' as const,
    }
    const page = referencePage({
      openapi: '3.1.0',
      info: { title: evil, version: evil, description: evil },
      tags: [{ name: evil, description: evil }],
      paths: { [`/${evil}`]: { get: operation } },
      components: {
        schemas: { [evil]: { type: 'object', properties: { [evil]: { type: 'string' } } } },
        securitySchemes: {},
      },
    })
    expect(page).toContain('&#34;&#62;&#60;x onload=&#34;alert(1)&#34;&#62;&#39;&#38;amp;')
    expect(page).not.toContain('<x')
    expect(page).not.toContain('onload="')
  })
})
