import Type from 'typebox'
import { Tag } from '../../filters/tag.ts'
import { Closed } from '../../platform/http/schemas.ts'
import { mostTags } from './limits.ts'

/** The number of suggested tags. */
export const mostSuggested = 100
/** Occurrences of a tag are counted up to this number. */
export const mostCounted = 1_000

const Tags = Type.Array(Tag, { maxItems: mostTags })

export const ConversationTags = Closed(
  { tags: Type.Array(Type.String(), { description: 'In alphabetical order.', examples: [['escalated', 'refund']] }) },
  { title: 'ConversationTags' },
)

export const ConversationTagsUpdate = Closed(
  { tags: { ...Tags, description: 'All tags of the conversation. `[]` removes them.' } },
  { examples: [{ tags: ['escalated', 'refund'] }] },
)

export const TagQuery = Closed({
  prefix: Type.Optional(
    Type.String({
      maxLength: 50,
      description: 'Only tags that start with this text, ignoring case.',
      examples: ['esc'],
    }),
  ),
})

export const TagSuggestions = Closed({
  data: Type.Array(
    Closed({
      tag: Type.String({ examples: ['escalated'] }),
      count: Type.Integer({
        minimum: 1,
        maximum: mostCounted,
        description: `The number of conversations with this tag, counted up to ${mostCounted.toLocaleString('en')}.`,
        examples: [42],
      }),
    }),
  ),
})
