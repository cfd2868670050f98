import Type from 'typebox'
import { Choice, Closed, Nullable, Timestamp } from '../platform/http/schemas.ts'
import { type Check, healthStatuses } from './checks.ts'

const HealthStatus = Choice(healthStatuses)

export const Health = Closed(
  {
    status: { ...HealthStatus, description: 'The worst status of all checks.' },
    checks: Type.Array(
      Closed({
        name: Type.String({ examples: ['evaluations'] }),
        status: HealthStatus,
        message: Type.String({ examples: ['No evaluation failed in the last day.'] }),
        since: Nullable(Timestamp),
        details: Type.Unsafe<Check['details']>({
          type: 'array',
          items: { type: 'object', additionalProperties: true },
          description: 'The items behind the status, such as the failing monitors with their latest reason.',
        }),
      }),
    ),
  },
  { title: 'Health' },
)
