import Type from 'typebox'
import { Choice, Closed, Id, Name, Nullable, Timestamp } from '../platform/http/schemas.ts'
import type { DestinationSettings } from './queries.ts'
import { kinds } from './settings.ts'

const DestinationName = { ...Name, maxLength: 100, examples: ['On-call channel'] }

const settingsByKind =
  'email: `addresses`, `memberIds`. slack and teams: `url`. pagerduty: `routingKey`. opsgenie: `apiKey`, `region` ' +
  '(us or eu). webhook: `endpointId`.'

const example = { url: 'https://hooks.slack.com/services/T0000/B0000/abcdefghijklmnop' }

const SettingsInput = Type.Unsafe<DestinationSettings>({
  type: 'object',
  additionalProperties: true,
  description: `Depends on the kind. ${settingsByKind}`,
  examples: [example],
})

const statuses = ['active', 'disabled'] as const

export const Destination = Closed(
  {
    id: Id,
    name: DestinationName,
    kind: Choice(kinds),
    settings: Type.Unsafe<DestinationSettings>({
      type: 'object',
      additionalProperties: true,
      description: `Depends on the kind. ${settingsByKind} URLs and keys are masked.`,
      examples: [{ url: 'https://hooks.slack.com/…mnop' }],
    }),
    status: Choice(statuses, { description: 'disabled: nothing is sent to it.' }),
    failingSince: {
      ...Nullable(Timestamp),
      description: 'The first failed delivery since the last success. Null if there is none.',
    },
    createdByUserId: Id,
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { title: 'Destination' },
)

export const DestinationCreate = Closed(
  { name: DestinationName, kind: Choice(kinds), settings: SettingsInput },
  { examples: [{ name: 'On-call channel', kind: 'slack', settings: example }] },
)

export const DestinationUpdate = Closed(
  {
    name: Type.Optional(DestinationName),
    settings: Type.Optional({
      ...SettingsInput,
      description: 'Replaces all settings. A URL or key that is missing or masked keeps its value.',
    }),
    status: Type.Optional(Choice(statuses)),
  },
  { minProperties: 1, examples: [{ status: 'disabled' }] },
)
