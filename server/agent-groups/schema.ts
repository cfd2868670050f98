import Type from 'typebox'
import { Closed, Id, Name, Timestamp } from '../platform/http/schemas.ts'

const GroupName = { ...Name, examples: ['Night shift'] }

export const AgentGroup = Closed(
  { id: Id, name: GroupName, createdAt: Timestamp, updatedAt: Timestamp },
  { title: 'AgentGroup' },
)

export const AgentGroupCreate = Closed({ name: GroupName })

export const AgentGroupUpdate = Closed({ name: Type.Optional(GroupName) }, { minProperties: 1 })
