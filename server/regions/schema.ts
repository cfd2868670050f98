import Type from 'typebox'
import { Closed, Id, Nullable, Timestamp } from '../platform/http/schemas.ts'

/** The maximum length of a recording that is measured. */
const longestMs = 12 * 3_600_000
const longestNote = 2_000
/** The maximum number of regions per conversation. */
export const mostRegions = 500

const Channel = Type.Integer({ minimum: 0, maximum: 1 })
const Position = Type.Integer({ minimum: 0, maximum: longestMs })

export const Region = Closed(
  {
    id: Id,
    conversationId: Id,
    startMs: { ...Position, examples: [4_200] },
    endMs: { ...Position, examples: [7_900] },
    channel: { ...Nullable(Channel), description: 'Counted from 0. Null if the note is about both channels.' },
    note: Type.String({ examples: ['The agent talks over the customer.'] }),
    authorUserId: Id,
    findingId: {
      ...Nullable(Id),
      description: 'The finding that the region shows. Null after the conversation was detached from it.',
    },
    createdAt: Timestamp,
  },
  { title: 'ConversationRegion' },
)

export const RegionCreate = Closed(
  {
    startMs: Position,
    endMs: { ...Position, description: 'After `startMs`.' },
    channel: Type.Optional({ ...Channel, description: 'Counted from 0. Without a channel, the note is about both.' }),
    note: Type.String({ minLength: 1, maxLength: longestNote, pattern: '\\S' }),
    findingId: Type.Optional({ ...Id, description: 'A finding that the conversation is attached to.' }),
  },
  { examples: [{ startMs: 4_200, endMs: 7_900, channel: 0, note: 'The agent talks over the customer.' }] },
)

export const RegionParams = Closed({ id: Id, regionId: Id })
