/** Bodies that take the longest to read for their size, by reason. */

/** Repeats a string as often as it fits between a start and an end. */
const fill = (bytes: number, before: string, each: string | ((index: number) => string), after: string): string => {
  const parts = [before]
  let room = bytes - before.length - after.length
  for (let index = 0; ; index++) {
    const part = typeof each === 'string' ? each : each(index)
    const text = index === 0 ? part : `,${part}`
    room -= text.length
    if (room < 0) break
    parts.push(text)
  }
  return `${parts.join('')}${after}`
}

const list = (each: string | ((index: number) => string)) => (bytes: number) => fill(bytes, '[', each, ']')

const text = (each: string) => (bytes: number) => `"${each.repeat((bytes - 2) / each.length)}"`

/** JSON values of the given size. */
export const worstValues: Record<string, (bytes: number) => string> = {
  'negative zeros': list('-0'),
  numbers: list('0'),
  fractions: list((index) => `${index}.123456789012345678e-7`),
  'numbers beyond all': list('1e999'),
  'integers beyond 2^53': list('9007199254740993'),
  'empty objects': list('{}'),
  'empty lists': list('[]'),
  'empty texts': list('""'),
  'objects of one property': list((index) => `{"k${index}":0}`),
  'lists within lists': list('[[[[[[[[]]]]]]]]'),
  properties: (bytes) => fill(bytes, '{', (index) => `"k${index}":0`, '}'),
  'one property again and again': (bytes) => fill(bytes, '{', '"a":0', '}'),
  turns: list('{"role":"user","text":"a"}'),
  'turns of digits': list('{"role":"user","text":"555-010-0199 4111 1111 1111 1111"}'),
  'a text': text('a'),
  'a text of escapes': text('\\u00e9'),
  'a text of NUL': text('\\u0000'),
  'texts of NUL': list('"\\u0000"'),
  'a text of digits': text('5 '),
  'a text of at signs': text('@'),
  'a text of speakers': text('A: \\n'),
  'a text of speakers without an end': text('Agent Agent '),
  'a text of JSON': text('[[],'),
  'a text of spaces': text(' '),
}
