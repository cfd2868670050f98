/** Decides whether a text is English, which selects the model that embeds it. */

const wordsOf = (list: string): Set<string> => new Set(list.split(' '))

const english = wordsOf(
  'a about after all am an and any are as at be because been but by can can’t could did do does don’t for from get had has ' +
    'have he help her here hi him his how i i’d i’ll i’m if in is it it’s just like me my need no not now of on one or our ' +
    'out please she should so some thank thanks that the their them then there these they this to up us want was we were ' +
    'what when where which who why will with would yes you your',
)

/** Frequent words of other languages that don't occur in English. */
const others = wordsOf(
  'aber auch auf bin bitte das dem den der die ein eine für haben ich ist kann mein mit möchte nicht oder sie und von wie ' +
    'wir zu avec bonjour c’est dans de des du est et je j’ai la le les mais mon ne ou pas pour que qui sur un une vous con ' +
    'cómo como del el en es esta gracias hola los lo mi muy necesito para pero por porque qué quiero se si su tengo ' +
    'una y che ciao di e grazie ho il mio nel non per più sono vorrei com eu em meu minha não obrigado os preciso quero ' +
    'uma een en het ik maar mijn niet van voor wil',
)

const letters = /\p{L}/gu
const otherLetters = /[^\P{L}\p{Script=Latin}]/gu
const words = /[\p{L}\p{M}]+(?:[’'][\p{L}\p{M}]+)*/gu

const mostOtherLetters = 0.25
/** From this number of words on, a text without English function words is not English. */
const enoughWords = 8
const leastEnglish = 0.08

const count = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0

/**
 * A text is not English if more than a quarter of its letters are not Latin, if it contains more frequent words of
 * other languages than of English, or if it is long and has almost no frequent English words.
 */
export const isEnglish = (text: string): boolean => {
  if (count(text, otherLetters) > mostOtherLetters * count(text, letters)) return false
  const all = (text.toLowerCase().match(words) ?? []).map((word) => word.replaceAll("'", '’'))
  const inEnglish = all.filter((word) => english.has(word)).length
  const inOthers = all.filter((word) => others.has(word)).length
  if (inOthers > inEnglish) return false
  return all.length < enoughWords || inEnglish >= leastEnglish * all.length
}
