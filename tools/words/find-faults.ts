import { TextlintKernel } from '@textlint/kernel'
import textPlugin from '@textlint/textlint-plugin-text'
import terminology from 'textlint-rule-terminology'
import { type Fragment, fragmentsOf } from './fragments.ts'
import { terms } from './terms.ts'

const kernel = new TextlintKernel()

const options = {
  ext: '.txt',
  plugins: [{ pluginId: 'text', plugin: textPlugin.default }],
  rules: [
    {
      ruleId: 'terminology',
      rule: terminology,
      options: {
        defaultTerms: false,
        terms: terms.map(([pattern, replacement]) => [`(?<![\\w-])(?:${pattern})(?![\\w-])`, replacement]),
      },
    },
  ],
}

/** Returns one line per fragment, so that phrases are found across line breaks, and each character's position. */
const flatten = (fragments: Fragment[]): { text: string; positions: number[] } => {
  let text = ''
  const positions: number[] = []
  for (const fragment of fragments) {
    for (const match of fragment.text.matchAll(/\S+/g)) {
      const word = `${match[0]} `
      text += word
      for (let at = 0; at < word.length; at++) positions.push(fragment.start + match.index + at)
    }
    text += '\n'
    positions.push(fragment.start)
  }
  return { text, positions }
}

/** Returns the phrases in a file that should be replaced, each with its line and its replacement. */
export const findFaults = async (path: string, source: string): Promise<string[]> => {
  const { text, positions } = flatten(fragmentsOf(path, source))
  if (text.trim() === '') return []
  const { messages } = await kernel.lintText(text, { ...options, filePath: path })
  return messages.map(({ range: [start], message }) => {
    const line = source.slice(0, positions[start]).split('\n').length
    return `${path}:${line} ${message}`
  })
}
