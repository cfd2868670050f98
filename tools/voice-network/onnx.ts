import { BinaryReader, WireType } from '@bufbuild/protobuf/wire'

/** Reads the constants in an ONNX file: their bytes by name. */

type Field = { number: number; bytes: Uint8Array | undefined }

/** Yields the fields of a message. Only fields with a length have bytes. */
function* fieldsOf(message: Uint8Array): Generator<Field> {
  const reader = new BinaryReader(message)
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag()
    if (wireType === WireType.LengthDelimited) yield { number, bytes: reader.bytes() }
    else {
      reader.skip(wireType)
      yield { number, bytes: undefined }
    }
  }
}

const partsOf = (message: Uint8Array, wanted: number): Uint8Array[] =>
  [...fieldsOf(message)].flatMap(({ number, bytes }) => (number === wanted && bytes ? [bytes] : []))

const fieldOf = (message: Uint8Array, wanted: number): Uint8Array | undefined => partsOf(message, wanted)[0]

/** The field numbers in `onnx.proto`. */
const [modelGraph, graphNode, nodeOutput, nodeAttribute, attributeTensor, attributeGraph, tensorRaw] = [
  7, 1, 2, 5, 5, 6, 9,
]

/** Finds the constants in a graph and in its subgraphs. */
const readGraph = (graph: Uint8Array, found: Map<string, Uint8Array>): void => {
  for (const node of partsOf(graph, graphNode)) {
    const name = new TextDecoder().decode(fieldOf(node, nodeOutput))
    for (const attribute of partsOf(node, nodeAttribute)) {
      const tensor = fieldOf(attribute, attributeTensor)
      const raw = tensor && fieldOf(tensor, tensorRaw)
      if (raw) found.set(name, raw)
      const inner = fieldOf(attribute, attributeGraph)
      if (inner) readGraph(inner, found)
    }
  }
}

export const readTensors = (file: Uint8Array): Map<string, Uint8Array> => {
  const found = new Map<string, Uint8Array>()
  const graph = fieldOf(file, modelGraph)
  if (graph) readGraph(graph, found)
  return found
}
