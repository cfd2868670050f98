import Type from 'typebox'

const example = {
  type: 'doc',
  content: [{ type: 'paragraph', content: [{ type: 'text', text: 'They ask for their money back.' }] }],
}

const about = { type: 'object', additionalProperties: true, examples: [example] }

/** `checkRichText` validates the content. */
export const RichTextInput = Type.Unsafe<object>({
  ...about,
  description:
    'Rich text: a TipTap document with the nodes and marks of any extension, stored as sent. Links use ' +
    'http, https, or mailto. Attributes that could run a script are rejected. Up to 256 KiB, 10,000 ' +
    'nodes, and 20 levels.',
})

export const RichTextOutput = Type.Unsafe<object>({ ...about, description: 'Rich text: a TipTap document.' })
