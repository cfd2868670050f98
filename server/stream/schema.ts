import Type, { type TSchema } from 'typebox'

const text = Type.String({
  examples: [
    'id: 0196b0a2-7c1e-7d3a-9a54-6f0e8b1c2d34\n' +
      'data: {"kind":"created","id":"0196b0a2-7b02-7c11-8f43-0d1e2f3a4b5c","resource":"conversations"}\n\n',
  ],
})

/** In place of a schema, Fastify accepts the content of a response by media type, but its types don't allow that. */
export const EventStream = { content: { 'text/event-stream': { schema: text } } } as unknown as TSchema
