import Type from 'typebox'
import { Choice, Closed, Email, Id, Name, Nullable, Timestamp } from '../platform/http/schemas.ts'
import { CreatedApiKey, Entitlements, Features, SomeEntitlements, SomeFeatures } from '../platform/identity/schema.ts'

const OrganizationName = { ...Name, examples: ['Acme Voice'] }

const Slug = Type.String({
  pattern: '^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$',
  description: 'Lower-case letters, digits and hyphens; unique on this instance.',
  examples: ['acme-voice'],
})

const RetentionDays = Nullable(
  Type.Integer({
    minimum: 1,
    maximum: 36_500,
    description: 'Conversations are erased after this many days; null keeps them.',
  }),
)
const Redaction = Type.Boolean({
  description: 'In PHI mode: redact e-mail addresses, phone, card and social-security numbers before storing.',
})
const MonthlyJudgeBudget = Nullable(
  Type.Number({
    minimum: 0,
    maximum: 9_999_999_999,
    multipleOf: 0.01,
    description: 'What model judges may cost in a calendar month, in US dollars; null sets no bound.',
  }),
)

export const Organization = Closed(
  {
    id: Id,
    name: OrganizationName,
    slug: Slug,
    status: Choice(['active', 'suspended']),
    entitlements: Entitlements,
    features: Features,
    retentionDays: RetentionDays,
    redaction: Redaction,
    monthlyJudgeBudget: MonthlyJudgeBudget,
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { title: 'Organization' },
)

const Total = Type.Integer({ minimum: 0 })

export const OwnOrganization = Closed(
  {
    ...Organization.properties,
    judgeSpending: Closed(
      {
        month: Type.String({ description: 'The present calendar month, in UTC.', examples: ['2026-11'] }),
        judgements: Total,
        inputTokens: Total,
        outputTokens: Total,
        cost: Type.Number({ minimum: 0, description: 'In US dollars, of models whose prices the operator has set.' }),
        budgetLeft: Nullable(
          Type.Number({ minimum: 0, description: 'Null without a monthly budget. At 0 judging stands still.' }),
        ),
      },
      { description: 'What model judges took in this month.' },
    ),
  },
  { title: 'OwnOrganization' },
)

export const OrganizationCreate = Closed({
  name: OrganizationName,
  slug: Slug,
  owner: Closed({ email: Email, name: { ...Name, examples: ['Ada Lovelace'] } }),
  entitlements: Type.Optional(SomeEntitlements),
  features: Type.Optional(SomeFeatures),
})

export const ProvisionedOrganization = Closed({
  organization: Organization,
  apiKey: CreatedApiKey,
  invitationUrl: Type.String({
    description: 'The link by which the owner joins. It works once, and is shown in this answer alone.',
    examples: ['https://earshot.example.com/welcome#AZejsF4cfDqaWT8fDC1OX4yQb0mB2cTn7vRj5sHd1gPy9aUe3kQ6zXWw'],
  }),
})

/** What the operator may change. */
export const OrganizationUpdate = Closed(
  {
    name: Type.Optional(OrganizationName),
    slug: Type.Optional(Slug),
    entitlements: Type.Optional(SomeEntitlements),
    features: Type.Optional(SomeFeatures),
  },
  { minProperties: 1 },
)

/** What an organization's own admins may change. */
export const OwnOrganizationUpdate = Closed(
  {
    name: Type.Optional(OrganizationName),
    retentionDays: Type.Optional(RetentionDays),
    redaction: Type.Optional(Redaction),
    monthlyJudgeBudget: Type.Optional(MonthlyJudgeBudget),
  },
  { minProperties: 1 },
)
