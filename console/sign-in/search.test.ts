import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { pageOf, readSignInSearch } from './search.ts'

beforeEach(() => vi.stubGlobal('location', { origin: 'https://earshot.example.com' }))
afterEach(() => vi.unstubAllGlobals())

describe('the page after sign-in', () => {
  it('is the requested one, with its query and anchor', () => {
    expect(pageOf('/findings?layout=list#top')).toBe('/findings?layout=list#top')
    expect(pageOf('https://earshot.example.com/exports')).toBe('/exports')
    expect(pageOf(undefined)).toBe('/')
  })

  it.each([
    '//example.com',
    '/\\example.com',
    'https://example.com/',
    'https://earshot.example.com@example.com/',
    'javascript:alert(1)',
    'data:text/html,hi',
    'http://earshot.example.com/',
    '/.//example.com',
    '/..//example.com/',
    'https://earshot.example.com//example.com',
    '/%2e//example.com',
    '\t//example.com',
  ])('is never on another host: %j', (to) => {
    const page = pageOf(to)
    expect(page).toMatch(/^\/(?!\/)/)
    expect(new URL(page, 'https://earshot.example.com').origin).toBe('https://earshot.example.com')
  })

  it('is read from the URL only if it is a string', () => {
    expect(readSignInSearch({ to: '/x', refused: 'unknown', forgotten: true })).toEqual({
      to: '/x',
      refused: 'unknown',
      forgotten: true,
    })
    expect(readSignInSearch({ to: 1, refused: null, forgotten: 'true' })).toEqual({})
  })
})
