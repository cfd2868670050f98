/** Folds case, so that a plain search finds the same text as a case-insensitive engine. */

/** Letters with more than two forms, which `toLowerCase` does not unify. */
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

/**
 * Replaces each letter with one that all its forms share. The length stays the same, so that positions match the text.
 */
export const fold = (text: string): string => {
  // This is the only letter that would become two letters. It has no other form.
  const small = text.includes('İ') ? text.split('İ').map(toSmall).join('İ') : text.toLowerCase()
  return small.replace(rareForm, (form) => rareForms[form] ?? form)
}

const toSmall = (text: string): string => text.toLowerCase()
