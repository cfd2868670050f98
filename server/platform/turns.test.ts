import { describe, expect, it } from 'vitest'
import { openTurns } from './turns.ts'

/** Lets every waiting owner enter once, and returns their order. */
const orderOf = async (places: number, owners: string, background = '') => {
  const turns = openTurns(places)
  const order: string[] = []
  const held = await Promise.all(Array.from({ length: places }, () => turns.enter('holder')))
  const entering = [...owners].map(async (owner, at) => {
    const leave = await turns.enter(owner, { background: background[at] === 'b' })
    order.push(background[at] === 'b' ? owner.toUpperCase() : owner)
    leave()
  })
  for (const leave of held) leave()
  await Promise.all(entering)
  return order.join('')
}

describe('turns', () => {
  it('go around, however many one owner has queued', async () => {
    expect(await orderOf(1, 'aaaabbc')).toBe('abcabaa')
  })

  it('let background work wait for the rest of its owner, and for nobody else', async () => {
    expect(await orderOf(1, 'aaab', 'b--b')).toBe('aBaA')
  })

  it('give one owner all slots, and the next free one to a newcomer', async () => {
    const turns = openTurns(2)
    const first = await turns.enter('a')
    await turns.enter('a')
    const order: string[] = []
    const enter = (owner: string) => turns.enter(owner).then(() => order.push(owner))
    const waiting = [enter('a'), enter('a'), enter('b')]
    expect(turns.isWanted('a')).toBe(true)
    expect(turns.isWanted('b')).toBe(false)
    first()
    await waiting[2]
    expect(order).toEqual(['b'])
    expect(turns.isWanted('a')).toBe(false)
  })

  it('are cancelled with a signal, and a slot is returned once', async () => {
    const turns = openTurns(1)
    const leave = await turns.enter('a')
    const ended = new AbortController()
    const given = turns.enter('b', { signal: ended.signal })
    ended.abort(new Error('ended'))
    await expect(given).rejects.toThrow('ended')
    await expect(turns.enter('b', { signal: ended.signal })).rejects.toThrow('ended')
    leave()
    leave()
    await turns.enter('c')
    expect(turns.isWanted('c')).toBe(false)
    const closed = turns.enter('d')
    turns.close(new Error('closed'))
    await expect(closed).rejects.toThrow('closed')
  })

  it('give one owner no more slots than its limit', async () => {
    const turns = openTurns(3, { perOwner: 2 })
    const leave = await turns.enter('a')
    await turns.enter('a')
    let entered = false
    const third = turns.enter('a').then(() => {
      entered = true
    })
    await turns.enter('b')
    expect(entered).toBe(false)
    leave()
    await third
  })

  it('let one owner fill half of the queue, and leave the rest to others', async () => {
    const turns = openTurns(1, { line: 4 })
    const leave = await turns.enter('a')
    const waiting = [turns.enter('a'), turns.enter('a')]
    await expect(turns.enter('a')).rejects.toMatchObject({ kind: 'unavailable' })
    const ending = new AbortController()
    const given = turns.enter('b', { signal: ending.signal })
    await expect(turns.enter('b')).rejects.toMatchObject({ kind: 'unavailable' })
    ending.abort()
    await expect(given).rejects.toThrow()
    waiting.push(turns.enter('b'))
    leave()
    await Promise.all(waiting.map(async (next) => (await next)()))
    expect(await turns.enter('a')).toBeTypeOf('function')
  })
})
