// The unit that is assigned to an arm: a caller who should only see one prompt, or a single conversation.

import { createHash } from 'node:crypto'
import Type, { type Static } from 'typebox'
import { Condition } from '../filters/filter.ts'
import type { Issue } from '../platform/errors.ts'
import { Choice, Closed } from '../platform/http/schemas.ts'

export const AssignmentUnit = Closed(
  {
    kind: Choice(['auto', 'metadata'], {
      description:
        '`auto` uses the customer. `metadata` uses the metadata value under `key`. A conversation without ' +
        'either is its own unit.',
    }),
    key: Type.Optional({
      ...Condition.properties.key,
      description: 'Required for `metadata`, and not allowed otherwise.',
    }),
  },
  { title: 'AssignmentUnit', examples: [{ kind: 'auto' }, { kind: 'metadata', key: 'household' }] },
)
export type AssignmentUnit = Static<typeof AssignmentUnit>

export const unitFaults = ({ kind, key }: AssignmentUnit): Issue[] => {
  if ((kind === 'metadata') === (key !== undefined)) return []
  return [
    {
      path: 'assignmentUnit.key',
      message: kind === 'auto' ? 'requires kind metadata' : 'is required for kind metadata',
    },
  ]
}

type Named = { id: string; customerId: string | null; metadataValue: string | null }

/** Returns an ID for the unit. Equal names get the same ID, so that the name itself is not stored twice. */
const idOf = (name: string): string => {
  const hex = createHash('sha256').update(name).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`
}

export const unitOf = ({ kind }: AssignmentUnit, { id, customerId, metadataValue }: Named) => {
  const name = kind === 'auto' ? customerId : metadataValue
  return name === null ? { unitId: id, isAlone: true } : { unitId: idOf(`${kind} ${name}`), isAlone: false }
}
