import { describe, expect, it } from 'vitest'
import { builtInModels } from '../models.ts'
import { similarityBetween } from '../vectors.ts'
import { openEncoder } from './run-encoder.ts'

const encoder = openEncoder({ isBackground: true })
const encode = (...texts: string[]) => encoder.encode('test', texts, new AbortController().signal)

/** The first numbers of the vectors that the original network returns. */
const original: [text: string, numbers: number[]][] = [
  ['How do I locate my card?', [-0.00092, -0.05545, -0.04159, -0.06239, 0.03784, -0.03534]],
  [
    'I still have not received my new card, I ordered over a week ago.',
    [0.00773, -0.06016, 0.05511, -0.06256, 0.03843, -0.03939],
  ],
  ['I ordered a card but it has not arrived. Help please!', [0.03951, -0.0595, 0.05125, -0.06633, 0.04421, -0.02435]],
]

describe('the model for English', () => {
  it('computes the vectors of the original, whatever texts it computes together', async () => {
    const together = await encode(...original.map(([text]) => text), 'one more text '.repeat(200))
    for (const [at, [text, numbers]] of original.entries()) {
      const [alone] = await encode(text)
      for (const vector of [together[at]?.vector, alone?.vector]) {
        for (const [dimension, number] of numbers.entries()) expect(vector?.[dimension]).toBeCloseTo(number, 4)
      }
    }
  })

  it('places texts with the same meaning near each other', async () => {
    const [lost, stolen, weather] = await encode(
      'I lost my credit card, please block it',
      'my card was stolen and I need to freeze it',
      'what will the weather be like in Paris tomorrow',
    )
    expect(lost?.model).toBe(builtInModels.english)
    const similarity = (a = lost, b = stolen) => similarityBetween(a?.vector ?? [], b?.vector ?? [])
    expect(similarity(lost, stolen)).toBeGreaterThan(similarity(lost, weather) + 0.2)
  })

  it('embeds texts without words', async () => {
    const embedded = await encode('', ' ', '?!', '\u{1F600}', '\u{D800}')
    for (const { vector } of embedded) expect(vector.every(Number.isFinite)).toBe(true)
  })
})

describe('the model for other languages', () => {
  it('places texts with the same words near each other', async () => {
    const [cancel, cancelled, invoice] = await encode(
      'Ich möchte meinen Termin am Montag absagen',
      'Können Sie den Termin am Montag für mich absagen?',
      'Die Rechnung vom letzten Monat ist nicht richtig',
    )
    expect(cancel?.model).toBe(builtInModels.other)
    const similarity = (a = cancel, b = cancelled) => similarityBetween(a?.vector ?? [], b?.vector ?? [])
    expect(similarity(cancel, cancelled)).toBeGreaterThan(similarity(cancel, invoice) + 0.2)
  })

  it('compares the characters of scripts without spaces', async () => {
    const [cancel, cancelled, weather] = await encode('我想取消明天的预约', '请帮我取消预约', '今天北京天气怎么样')
    const similarity = (a = cancel, b = cancelled) => similarityBetween(a?.vector ?? [], b?.vector ?? [])
    expect(similarity(cancel, cancelled)).toBeGreaterThan(similarity(cancel, weather) + 0.2)
  })
})
