/** Multiplies matrices in WebAssembly. The code is in `kernel.wat`, which the build assembles. */

/** A range of the memory that the code works on. */
export type Matrix = Float32Array

/**
 * The properties of the global object that are used here. They are only declared in the types of browsers, which are
 * not included.
 */
declare const WebAssembly: {
  Module: new (code: Uint8Array) => object
  Instance: new (module: object) => { exports: unknown }
}

type Multiply = (a: number, b: number, c: number, m: number, k: number, n: number) => void

type Exports = {
  memory: { buffer: ArrayBuffer; grow: (pages: number) => number }
  multiply: Multiply
  multiplyPacked: Multiply
  accumulate: (v: number, b: number, y: number, k: number, n: number) => void
}

/** A matrix stored as consecutive strips of eight columns, which makes products faster. */
export type PackedMatrix = { strips: Matrix; columns: number }

export type Kernel = {
  allocate: (length: number) => Matrix
  /** Allocates a matrix with these values. */
  place: (values: Float32Array) => Matrix
  /** Sets c to a times b, where a has this many rows. */
  multiply: (a: Matrix, b: Matrix, c: Matrix, rows: number) => void
  /** Packs a matrix. The number of columns must be a multiple of 8. `place` is a packed matrix to overwrite. */
  pack: (values: Float32Array, columns: number, place?: PackedMatrix) => PackedMatrix
  /** Sets c to a times b, where a has this many rows. */
  multiplyPacked: (a: Matrix, b: PackedMatrix, c: Matrix, rows: number) => void
  /** Adds the product of a row and b to a row of c. */
  accumulate: (row: Matrix, b: Matrix, c: Matrix) => void
}

const alignment = 64
const pageBytes = 64 * 1024
const stripColumns = 8

/**
 * `bytes` is the total size of all matrices. It only matters if it exceeds the 4 MB that the code has from the start.
 */
export const openKernel = (code: Uint8Array, { bytes = 0 }: { bytes?: number } = {}): Kernel => {
  const instance = new WebAssembly.Instance(new WebAssembly.Module(code))
  // The build assembles the file that has these exports.
  const { memory, multiply, multiplyPacked, accumulate } = instance.exports as Exports
  const lacking = Math.ceil((bytes - memory.buffer.byteLength) / pageBytes)
  if (lacking > 0) memory.grow(lacking)
  let free = 0
  const allocate = (length: number): Matrix => {
    const matrix = new Float32Array(memory.buffer, free, length)
    free += Math.ceil((length * 4) / alignment) * alignment
    return matrix
  }
  return {
    allocate,
    place: (values) => {
      const matrix = allocate(values.length)
      matrix.set(values)
      return matrix
    },
    multiply: (a, b, c, rows) =>
      multiply(a.byteOffset, b.byteOffset, c.byteOffset, rows, a.length / rows, c.length / rows),
    pack: (values, columns, place) => {
      const rows = values.length / columns
      const strips = place?.strips ?? allocate(values.length)
      let target = 0
      for (let column = 0; column < columns; column += stripColumns) {
        for (let row = 0; row < rows; row++) {
          const start = row * columns + column
          strips.set(values.subarray(start, start + stripColumns), target)
          target += stripColumns
        }
      }
      return { strips, columns }
    },
    multiplyPacked: (a, { strips, columns }, c, rows) =>
      multiplyPacked(a.byteOffset, strips.byteOffset, c.byteOffset, rows, a.length / rows, columns),
    accumulate: (row, b, c) => accumulate(row.byteOffset, b.byteOffset, c.byteOffset, row.length, c.length),
  }
}
