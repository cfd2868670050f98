import { describe, expect, it } from 'vitest'
import { bodyOf, type Draft, emptyDraft, missingFields } from './draft.ts'

const ready: Draft = {
  ...emptyDraft,
  name: ' Two slots ',
  agentId: 'agent',
  armAVersionId: 'a',
  armBVersionId: 'b',
  outcomeMetricIds: ['m'],
  primaryMetricId: 'm',
  stableRoutingConfirmed: true,
}

describe('a launch', () => {
  it('lists everything that is missing, and nothing else', () => {
    expect(missingFields(emptyDraft)).toEqual([
      'a name',
      'an agent',
      'a version for A and one for B',
      'an outcome',
      'the routing confirmation',
    ])
    expect(missingFields(ready)).toEqual([])
    expect(missingFields({ ...ready, armBVersionId: null })).toEqual(['a version for A and one for B'])
    expect(missingFields({ ...ready, unit: 'metadata', unitKey: ' ' })).toEqual(['the caller’s metadata key'])
  })

  it('sends trimmed input without empty optional fields', () => {
    expect(bodyOf({ ...ready, expectedArmAPercent: ' ' })).toEqual({
      name: 'Two slots',
      agentId: 'agent',
      armAVersionId: 'a',
      armBVersionId: 'b',
      outcomeMetricIds: ['m'],
      primaryMetricId: 'm',
      stableRoutingConfirmed: true,
      assignmentUnit: { kind: 'auto' },
    })
  })

  it('sends addresses, the caller’s key, and the expected share', () => {
    expect(
      bodyOf({ ...ready, emails: 'a@example.com, , b@example.com', unit: 'metadata', unitKey: ' phone ' }),
    ).toMatchObject({
      notifications: { emails: ['a@example.com', 'b@example.com'] },
      assignmentUnit: { kind: 'metadata', key: 'phone' },
      expectedArmAPercent: 50,
    })
  })

  it('names a new monitor group only if no existing one is chosen', () => {
    expect(bodyOf({ ...ready, newMonitorGroupName: 'Booking' })).toMatchObject({ newMonitorGroupName: 'Booking' })
    const chosen = bodyOf({ ...ready, monitorGroupId: 'g', newMonitorGroupName: 'Booking' })
    expect(chosen).toMatchObject({ monitorGroupId: 'g' })
    expect(chosen).not.toHaveProperty('newMonitorGroupName')
  })
})
