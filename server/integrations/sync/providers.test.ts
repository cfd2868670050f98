import { describe, expect, it } from 'vitest'
import { type CallApi, callSourceOf } from './providers.ts'

const sourceOf = (provider: 'elevenlabs' | 'retell' | 'vapi'): CallApi => {
  const source = callSourceOf(provider)
  if (!source) throw new Error(`${provider} lists its calls`)
  return source
}

const odd = [undefined, null, 0, '', 'text', true, [], {}, [[]], { items: 1 }, { conversations: {} }]
const listName = { elevenlabs: 'conversations', retell: 'items' }
const oddEntries = [null, 1, 'x', [], {}, { id: {} }, { call_id: 1e300, conversation_id: [], id: null }]

describe.each(['elevenlabs', 'retell', 'vapi'] as const)('responses of %s', (provider) => {
  it('are only read if they contain a list', () => {
    const { readPage } = sourceOf(provider)
    for (const answer of odd) {
      if (provider === 'vapi' && Array.isArray(answer)) continue
      expect(readPage(answer, null), JSON.stringify(answer)).toBeUndefined()
    }
    const answer =
      provider === 'vapi' ? oddEntries : { [listName[provider]]: oddEntries, has_more: 'yes', next_cursor: 7 }
    expect(readPage(answer, null)).toEqual({ calls: [], next: null })
  })

  it('are rejected if they have more items than requested', () => {
    const list = Array.from({ length: 200_000 }, (_, index) => ({
      id: `${index}`,
      call_id: `${index}`,
      conversation_id: `${index}`,
      createdAt: '2026-11-20T12:00:00Z',
    }))
    expect(
      sourceOf(provider).readPage(provider === 'vapi' ? list : { [listName[provider]]: list }, null),
    ).toBeUndefined()
  })

  it('are requested with a URL that an ID cannot change', () => {
    const { path } = sourceOf(provider).detail('../../account?x=#')
    expect(new URL(path, 'https://api.example.com').pathname).toContain('..%2F..%2Faccount%3Fx%3D%23')
  })
})

it('a page with more results but no cursor is rejected, because the rest would be lost', () => {
  const [elevenlabs, retell, vapi] = [sourceOf('elevenlabs'), sourceOf('retell'), sourceOf('vapi')]
  expect(elevenlabs.readPage({ conversations: [], has_more: true }, null)).toBeUndefined()
  expect(retell.readPage({ items: [], has_more: true, pagination_key: 7 }, null)).toBeUndefined()
  expect(retell.readPage({ items: [], pagination_key: 'more' }, null)?.next).toBe('more')
  expect(retell.readPage({ items: [], has_more: false, pagination_key: 'more' }, null)?.next).toBeNull()
  expect(vapi.readPage(Array(50).fill({ id: 'call' }), null)).toBeUndefined()
})

describe('pages of Vapi', () => {
  const { readPage, list } = sourceOf('vapi')
  const entry = (id: string, createdAt: string) => ({ id, createdAt, status: 'ended' })
  const window = { from: new Date('2026-11-20T00:00:00Z'), until: new Date('2026-11-21T00:00:00Z') }
  const latestOf = (cursor: string | null) =>
    new URLSearchParams(list(window, cursor).path.split('?')[1]).get('createdAtLe')
  const full = (instant: string) => Array.from({ length: 50 }, (_, index) => entry(`call-${index}`, instant))

  it('end where the former one started, and contain no call twice', () => {
    const first = [...full('2026-11-20T12:00:00.000Z').slice(1), entry('oldest', '2026-11-20T11:00:00.000Z')]
    const page = readPage(first, null)
    expect(latestOf(page?.next ?? null)).toBe('2026-11-20T11:00:00.000Z')
    const rest = readPage(
      [entry('oldest', '2026-11-20T11:00:00.000Z'), entry('older', '2026-11-20T10:00:00.000Z')],
      page?.next ?? null,
    )
    expect(rest?.calls.map(({ externalId }) => externalId)).toEqual(['older'])
    expect(rest?.next).toBeNull()
  })

  it('end if more calls started at the same time than a page has', () => {
    const same = full('2026-11-20T12:00:00.000Z')
    const first = readPage(same, null)
    const second = readPage(same, first?.next ?? null)
    expect(second?.calls).toEqual([])
    expect(latestOf(second?.next ?? null)).toBe('2026-11-20T11:59:59.999Z')
  })
})
