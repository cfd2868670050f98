// Splits texts into the tokens of the Universal Sentence Encoder: the most probable sequence of known pieces.

/** Pieces with the logarithms of their probabilities. */
export type Vocabulary = [piece: string, score: number][]

/** The number of entries at the start that are not pieces of text. The first one stands for unknown characters. */
const reserved = 6
const unknown = 0

const space = '▁'

type Node = { next: Map<string, Node>; token: number; score: number }

const newNode = (): Node => ({ next: new Map(), token: unknown, score: 0 })

const buildTrie = (vocabulary: Vocabulary): Node => {
  const root = newNode()
  for (const [token, [piece, score]] of vocabulary.entries()) {
    if (token < reserved) continue
    let node = root
    for (const symbol of piece) {
      const next = node.next.get(symbol) ?? newNode()
      node.next.set(symbol, next)
      node = next
    }
    node.token = token
    node.score = score
  }
  return root
}

const symbolsOf = (text: string): string[] => {
  const normalized = text.normalize('NFKC')
  return normalized === '' ? [] : [...`${space}${normalized.replaceAll(' ', space)}`]
}

/** Collapses consecutive unknown tokens into one. */
const joinUnknown = (tokens: number[]): number[] =>
  tokens.filter((token, at) => token !== unknown || tokens[at - 1] !== unknown)

/** Calls `onPiece` with the known pieces at a position. Returns whether there are any. */
const findPieces = (
  trie: Node,
  symbols: string[],
  start: number,
  onPiece: (end: number, piece: Node) => void,
): boolean => {
  let isKnown = false
  let node = trie.next.get(symbols[start] as string)
  for (let end = start + 1; node; end++) {
    if (node.token !== unknown) {
      onPiece(end, node)
      isKnown = true
    }
    node = end < symbols.length ? node.next.get(symbols[end] as string) : undefined
  }
  return isKnown
}

export const openTokenizer = (vocabulary: Vocabulary): ((text: string) => number[]) => {
  const trie = buildTrie(vocabulary)

  return (text) => {
    const symbols = symbolsOf(text)
    const best = new Float64Array(symbols.length + 1)
    const tokens = new Int32Array(symbols.length + 1)
    const starts = new Int32Array(symbols.length + 1)
    const offer = (start: number, end: number, { token, score }: Pick<Node, 'token' | 'score'>): void => {
      const total = score + (best[start] as number)
      // As in the original, zero stands for a position that has not been reached yet.
      if (best[end] !== 0 && total < (best[end] as number)) return
      best[end] = total
      tokens[end] = token
      starts[end] = start
    }
    for (let start = 0; start < symbols.length; start++) {
      const isKnown = findPieces(trie, symbols, start, (end, piece) => offer(start, end, piece))
      if (!isKnown) offer(start, start + 1, { token: unknown, score: 0 })
    }
    const found: number[] = []
    for (let end = symbols.length; end > 0; end = starts[end] as number) found.push(tokens[end] as number)
    return joinUnknown(found.reverse())
  }
}
