/** Text without case, so that a plain search compares as an engine does that is told to ignore case. */

/** Letters that have more than two forms, and are not brought together by being made small. */
const rareForms: Record<string, string> = {
  ſ: 's',
  ẛ: 'ṡ',
  ﬅ: 'ﬆ',
  µ: 'μ',
  '\u{345}': 'ι',
  '\u{1fbe}': 'ι',
  '\u{1fd3}': '\u{390}',
  '\u{1fe3}': '\u{3b0}',
  ϐ: 'β',
  ϵ: 'ε',
  ϑ: 'θ',
  ϰ: 'κ',
  ϖ: 'π',
  ϱ: 'ρ',
  ς: 'σ',
  ϕ: 'φ',
  '\u{1c80}': 'в',
  '\u{1c81}': 'д',
  '\u{1c82}': 'о',
  '\u{1c83}': 'с',
  '\u{1c84}': 'т',
  '\u{1c85}': 'т',
  '\u{1c86}': 'ъ',
  '\u{1c87}': 'ѣ',
  '\u{1c88}': 'ꙋ',
}

const rareForm = new RegExp(`[${Object.keys(rareForms).join('')}]`, 'g')

/** Each letter becomes one that all its forms share. The length stays, so that places in it are places in the text. */
export const fold = (text: string): string => {
  // The only letter that would become two; it has no other form.
  const small = text.includes('İ') ? text.split('İ').map(toSmall).join('İ') : text.toLowerCase()
  return small.replace(rareForm, (form) => rareForms[form] ?? form)
}

const toSmall = (text: string): string => text.toLowerCase()
