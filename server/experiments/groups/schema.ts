import Type from 'typebox'
import { Closed, Id, Timestamp } from '../../platform/http/schemas.ts'

const GroupName = Type.String({ minLength: 1, maxLength: 255, pattern: '\\S', examples: ['Refunds'] })

const MetricIds = Type.Array(Id, { minItems: 1, maxItems: 20, description: 'Distinct monitors.' })

export const MonitorGroup = Closed(
  { id: Id, name: GroupName, metricIds: MetricIds, createdAt: Timestamp, updatedAt: Timestamp },
  { title: 'MonitorGroup' },
)

export const MonitorGroupUpdate = Closed(
  { name: Type.Optional(GroupName), metricIds: Type.Optional(MetricIds) },
  { minProperties: 1 },
)
