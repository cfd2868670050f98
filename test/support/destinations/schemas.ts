/** Defines the messages that destinations accept according to their documentation. */

const text = (maxLength: number) => ({ type: 'string', minLength: 1, maxLength })

const closed = (properties: Record<string, object>, required = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})

const url = (maxLength: number) => ({ type: 'string', format: 'uri', maxLength })

const plain = (maxLength: number) =>
  closed({ type: { const: 'plain_text' }, text: text(maxLength), emoji: { type: 'boolean' } }, ['type', 'text'])
const mrkdwn = (maxLength: number) =>
  closed({ type: { const: 'mrkdwn' }, text: text(maxLength), verbatim: { type: 'boolean' } }, ['type', 'text'])

const blocks = [
  closed({ type: { const: 'header' }, text: plain(150) }),
  closed({ type: { const: 'section' }, text: mrkdwn(3_000) }),
  closed({ type: { const: 'section' }, fields: { type: 'array', minItems: 1, maxItems: 10, items: mrkdwn(2_000) } }),
  closed({
    type: { const: 'actions' },
    elements: {
      type: 'array',
      minItems: 1,
      maxItems: 25,
      items: closed({ type: { const: 'button' }, text: plain(75), url: url(3_000) }),
    },
  }),
  closed({
    type: { const: 'context' },
    elements: { type: 'array', minItems: 1, maxItems: 10, items: mrkdwn(3_000) },
  }),
]

/** From https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks and the reference of its blocks. */
export const slackSchema = closed({
  text: text(40_000),
  blocks: { type: 'array', minItems: 1, maxItems: 50, items: { oneOf: blocks } },
})

const cardElements = [
  closed(
    {
      type: { const: 'TextBlock' },
      text: { type: 'string', minLength: 1 },
      wrap: { type: 'boolean' },
      size: { enum: ['Small', 'Default', 'Medium', 'Large', 'ExtraLarge'] },
      weight: { enum: ['Lighter', 'Default', 'Bolder'] },
      color: { enum: ['Default', 'Dark', 'Light', 'Accent', 'Good', 'Warning', 'Attention'] },
      isSubtle: { type: 'boolean' },
    },
    ['type', 'text'],
  ),
  closed({
    type: { const: 'FactSet' },
    facts: { type: 'array', minItems: 1, items: closed({ title: { type: 'string' }, value: { type: 'string' } }) },
  }),
  closed({ type: { const: 'Image' }, url: { type: 'string', pattern: '^(https|data):' }, altText: text(500) }),
]

/** From https://adaptivecards.io/schemas/adaptive-card.json, version 1.4, in the envelope of a Teams workflow. */
export const teamsSchema = closed({
  type: { const: 'message' },
  attachments: {
    type: 'array',
    minItems: 1,
    maxItems: 1,
    items: closed({
      contentType: { const: 'application/vnd.microsoft.card.adaptive' },
      contentUrl: { type: 'null' },
      content: closed({
        $schema: { const: 'http://adaptivecards.io/schemas/adaptive-card.json' },
        type: { const: 'AdaptiveCard' },
        version: { const: '1.4' },
        body: { type: 'array', items: { oneOf: cardElements } },
        actions: {
          type: 'array',
          maxItems: 6,
          items: closed({ type: { const: 'Action.OpenUrl' }, title: text(500), url: url(3_000) }),
        },
      }),
    }),
  },
})

const eventKey = {
  routing_key: { type: 'string', minLength: 32, maxLength: 32 },
  dedup_key: text(255),
  client: text(255),
  client_url: url(2_048),
}

/** From https://developer.pagerduty.com/docs/send-alert-event. */
export const pagerdutySchema = {
  oneOf: [
    closed({
      ...eventKey,
      event_action: { const: 'trigger' },
      links: { type: 'array', items: closed({ href: url(3_000), text: text(1_024) }) },
      payload: closed({
        summary: text(1_024),
        source: text(255),
        severity: { enum: ['critical', 'warning', 'error', 'info'] },
        timestamp: { type: 'string', format: 'date-time' },
        custom_details: { type: 'object' },
      }),
    }),
    closed({ ...eventKey, event_action: { enum: ['acknowledge', 'resolve'] } }),
  ],
}

/**
 * From https://docs.opsgenie.com/docs/alert-api: the messages that create an alert, and that acknowledge or close one.
 */
export const opsgenieSchemas = {
  create: closed({
    message: text(130),
    alias: text(512),
    description: text(15_000),
    details: { type: 'object', additionalProperties: { type: 'string' } },
    source: text(100),
    priority: { enum: ['P1', 'P2', 'P3', 'P4', 'P5'] },
  }),
  update: closed({ source: text(100), note: text(25_000) }),
}
