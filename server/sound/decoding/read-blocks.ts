import { setImmediate } from 'node:timers/promises'
import { type Block, decodeFile, Undecodable } from './decode.ts'

const [lowestRate, highestRate] = [4_000, 192_000]
const longestHours = 12

const checkFormat = ({ channels: { length: channels }, sampleRate }: Block): void => {
  if (channels === 0) throw new Undecodable('The file has no audio.')
  if (channels > 2) throw new Undecodable(`The recording has ${channels} channels; at most two are supported.`)
  if (!Number.isInteger(sampleRate) || sampleRate < lowestRate || sampleRate > highestRate) {
    throw new Undecodable('The recording has a sample rate that is not supported.')
  }
}

const lengthOf = ({ channels }: Block): number => channels[0]?.length ?? 0

/**
 * Yields the samples of an open file, in blocks that all have the same format. `onBlock` is called for each block, and
 * can throw.
 */
export async function* readBlocks(fd: number, { onBlock }: { onBlock: () => void }): AsyncGenerator<Block> {
  let first: Block | undefined
  let samples = 0
  for await (const block of decodeFile(fd)) {
    onBlock()
    // Without this, the process would not notice that its parent has exited.
    await setImmediate()
    if (lengthOf(block) === 0) continue
    if (!first) checkFormat(block)
    first ??= block
    if (block.sampleRate !== first.sampleRate || block.channels.length !== first.channels.length) {
      throw new Undecodable('The sample rate or the number of channels changes within the recording.')
    }
    samples += lengthOf(block)
    if (samples > longestHours * 3_600 * block.sampleRate) {
      throw new Undecodable(`Recordings longer than ${longestHours} hours are not supported.`)
    }
    yield block
  }
  if (!first) throw new Undecodable('The file has no audio.')
}
