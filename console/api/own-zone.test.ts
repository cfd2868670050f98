import { afterEach, describe, expect, it, vi } from 'vitest'
import { Fault } from './fault.ts'
import { inOwnZone } from './own-zone.ts'

afterEach(() => vi.restoreAllMocks())

const reportZone = (timeZone: string) => {
  const { prototype } = Intl.DateTimeFormat
  const options = prototype.resolvedOptions.call(new Intl.DateTimeFormat())
  vi.spyOn(prototype, 'resolvedOptions').mockReturnValue({ ...options, timeZone })
}

/** Pretends to be a server that only knows UTC. */
const askOldService = (asked: string[], path = 'timezone') =>
  inOwnZone(async (timezone) => {
    asked.push(timezone)
    if (timezone === 'UTC') return 'answer'
    throw new Fault({ status: 400, message: 'Not valid', issues: [{ path, message: 'must be an IANA name' }] })
  })

describe('a request in the viewer’s time zone', () => {
  it('is repeated in UTC if the server does not know the zone', async () => {
    reportZone('Europe/Berlin')
    const asked: string[] = []
    expect(await askOldService(asked)).toBe('answer')
    expect(asked.at(-1)).toBe('UTC')
  })

  it('is in UTC if the browser does not know the zone that it reports', async () => {
    reportZone('Etc/Unknown')
    const asked: string[] = []
    await askOldService(asked)
    expect(asked).toEqual(['UTC'])
  })

  it('is not repeated after other errors', async () => {
    reportZone('Europe/Berlin')
    const asked: string[] = []
    await expect(askOldService(asked, 'filter')).rejects.toThrow('Not valid')
    expect(asked).toEqual(['Europe/Berlin'])
  })
})
