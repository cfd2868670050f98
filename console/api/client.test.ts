import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest'

const fetched = vi.fn<(request: Request) => Promise<Response>>()
vi.stubGlobal('location', { origin: 'https://earshot.example.com' })
vi.stubGlobal('fetch', fetched)
// The client reads its origin when it is imported.
const { answer, api } = await import('./client.ts')

afterAll(() => void vi.unstubAllGlobals())
beforeEach(() => void fetched.mockReset())

const getMe = () => answer(api.GET('/v1/me'))

describe('a response', () => {
  it('is returned without its envelope', async () => {
    fetched.mockResolvedValue(Response.json({ role: 'viewer' }))
    expect(await getMe()).toEqual({ role: 'viewer' })
  })

  it('may be empty', async () => {
    fetched.mockResolvedValue(new Response(null, { status: 204 }))
    expect(await answer(api.POST('/auth/sign-out', { body: {} }))).toBeUndefined()
  })
})

describe('an error', () => {
  it('has the message, the issues, and the request ID of the API', async () => {
    const issues = [{ path: 'name', message: 'is required' }]
    const body = { error: 'validation failed', message: 'The request is not valid.', details: { issues } }
    fetched.mockResolvedValue(Response.json(body, { status: 400, headers: { 'x-request-id': 'request-1' } }))
    await expect(getMe()).rejects.toMatchObject({
      status: 400,
      message: 'The request is not valid.',
      issues,
      requestId: 'request-1',
    })
  })

  it('is readable if it comes from a proxy', async () => {
    fetched.mockResolvedValue(new Response('<h1>Bad gateway</h1>', { status: 502 }))
    await expect(getMe()).rejects.toMatchObject({
      status: 502,
      message: 'The response couldn’t be read. Try again.',
      issues: [],
      requestId: null,
    })
  })

  it('has status 0 if the server can’t be reached', async () => {
    fetched.mockRejectedValue(new TypeError('Failed to fetch'))
    await expect(getMe()).rejects.toMatchObject({ status: 0, message: expect.stringContaining('can’t be reached') })
  })

  it('stays an abort if the request was aborted', async () => {
    fetched.mockRejectedValue(new DOMException('aborted', 'AbortError'))
    await expect(getMe()).rejects.toThrow(DOMException)
  })
})
