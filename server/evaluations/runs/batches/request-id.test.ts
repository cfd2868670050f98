import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { conversationOf, requestIdOf } from './request-id.ts'

it('names requests so that only their own batch recognizes them', () => {
  for (let count = 0; count < 200; count++) {
    const [batch, other, conversation] = [randomUUID(), randomUUID(), randomUUID()]
    const id = requestIdOf(batch, conversation)
    expect(id).toMatch(/^[\w-]{1,64}$/)
    expect(conversationOf(batch, id)).toBe(conversation)
    expect(conversationOf(other, id)).toBeUndefined()
    expect(conversationOf(batch, `${id}0`)).toBeUndefined()
  }
})
