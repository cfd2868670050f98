import { describe, expect, it } from 'vitest'
import { paramsOf, readDraft, startOf, tidy, withoutEmpty } from './draft.ts'

const config = {
  monitors: [{ id: 'm' }],
  timezone: 'Europe/Berlin',
  since: '2026-10-31T23:00:00.000Z',
  until: '2026-11-30T23:00:00.000Z',
}

describe('an export’s draft', () => {
  it('shows the period in its time zone, and converts it back', () => {
    const draft = startOf(config)
    expect(draft).toMatchObject({ since: '2026-11-01T00:00', until: '2026-12-01T00:00' })
    expect(readDraft(draft)).toEqual({ config })
    expect(paramsOf(draft)).toEqual(config)
  })

  it('says what is missing', () => {
    const draft = startOf(config)
    expect(readDraft({ ...draft, monitors: [] })).toEqual({ missing: 'Choose at least one monitor.' })
    expect(readDraft({ ...draft, until: '' })).toEqual({ missing: 'Enter a start and an end.' })
    expect(readDraft({ ...draft, until: draft.since })).toEqual({ missing: 'The end must be later than the start.' })
  })

  it('must end after it starts, by the instants and not by the local times', () => {
    // That night, clocks show 02:30 twice, and the first occurrence counts.
    const night = { ...startOf(config), since: '2026-10-25T02:30', until: '2026-10-25T03:00' }
    expect(readDraft(night)).toMatchObject({
      config: { since: '2026-10-25T00:30:00.000Z', until: '2026-10-25T02:00:00.000Z' },
    })
  })

  it('keeps incomplete input out of the URL', () => {
    expect(paramsOf({ ...startOf(config), since: '' })).toEqual({
      monitors: config.monitors,
      timezone: config.timezone,
      until: config.until,
    })
  })

  it('drops empty optional fields, and keeps the required ones', () => {
    const draft = { ...startOf(config), monitors: [], since: '', agentId: '', reasoning: false, metadata: [] }
    expect(tidy(draft)).toEqual({ monitors: [], since: '', until: '2026-12-01T00:00', timezone: 'Europe/Berlin' })
  })
})

it('only drops values that are empty', () => {
  expect(withoutEmpty({ a: undefined, b: '', c: false, d: [], e: 0, f: true, g: ['x'], h: null })).toEqual({
    e: 0,
    f: true,
    g: ['x'],
    h: null,
  })
})
