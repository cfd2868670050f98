// Rates passwords. The dictionaries need memory and time to load, so this runs in a thread that ends soon.

import { parentPort } from 'node:worker_threads'
import { ZxcvbnFactory } from '@zxcvbn-ts/core'
import * as common from '@zxcvbn-ts/language-common'
import * as english from '@zxcvbn-ts/language-en'

export type PasswordQuestion = { id: number; password: string; known: string[] }
export type StrengthScore = { id: number; score: number }

// The words from Wikipedia need most of the memory, but few passwords contain them.
const { 'wikipedia-en': _words, ...dictionaries } = english.dictionary

const zxcvbn = new ZxcvbnFactory({
  dictionary: { ...common.dictionary, ...dictionaries },
  graphs: common.adjacencyGraphs,
  // A password is strong if its first characters are. The time grows steeply with the length.
  maxLength: 32,
  l33tMaxSubstitutions: 8,
})

parentPort?.on('message', ({ id, password, known }: PasswordQuestion) => {
  parentPort?.postMessage({ id, score: zxcvbn.check(password, known).score } satisfies StrengthScore)
})
