/** Words that say nothing about a topic, because they occur in all kinds of conversations. */
const common = new Set(
  `a about above actually after again all also am an and any anything are aren't as at be because been before being but
by bye can can't cannot could couldn't did didn't do does doesn't doing don't each else even few for from further get
getting give go going gonna good got great guess had has have haven't having he hello help her here hey hi him his how
i i'd i'll i'm i've if in into is isn't it it's its just know let let's like little lot make maybe me mean might more
most much must my need needed no nope not now of off oh ok okay on one only or other our out over own please possible
problem put really right said same say see seems she should so some something still such sure take tell than thank
thanks that that's the their them then there there's these they they're thing things think this those through time to
today too trying uh um under until up us use used very wait wanna want wanted was wasn't way we we're well were what
what's when where which while who why will wish with without won't wonder would wouldn't yeah yep yes you you're
your`.split(/\s+/),
)

const longestWord = 40

/** Returns the words of a text in lowercase, without numbers. */
export const wordsOf = (text: string): string[] =>
  (
    text
      .toLowerCase()
      .replaceAll('’', "'")
      .match(/\p{L}[\p{L}\p{M}']*/gu) ?? []
  ).filter((word) => word.length <= longestWord)

/** Returns the terms of a text that can name a topic: words that aren't common, and pairs of adjacent words. */
export const termsOf = (text: string): string[] => {
  const words = wordsOf(text)
  const terms: string[] = []
  let before: string | undefined
  for (const word of words) {
    const isTelling = word.length > 2 && !common.has(word)
    if (isTelling) {
      terms.push(word)
      if (before !== undefined) terms.push(`${before} ${word}`)
    }
    before = isTelling ? word : undefined
  }
  return terms
}
