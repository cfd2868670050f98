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

type Exports = {
  memory: { buffer: ArrayBuffer }
  multiply: (a: number, b: number, c: number, m: number, k: number, n: number) => void
  accumulate: (v: number, b: number, y: number, k: number, n: number) => void
}

export type Kernel = {
  allocate: (length: number) => Matrix
  /** Allocates a matrix with these values. */
  place: (values: Float32Array) => Matrix
  /** Sets c to a times b, where a has this many rows. */
  multiply: (a: Matrix, b: Matrix, c: Matrix, rows: number) => void
  /** Adds the product of a row and b to a row of c. */
  accumulate: (row: Matrix, b: Matrix, c: Matrix) => void
}

const alignment = 64

export const openKernel = (code: Uint8Array): Kernel => {
  const instance = new WebAssembly.Instance(new WebAssembly.Module(code))
  // The build assembles the file that has these exports.
  const { memory, multiply, accumulate } = instance.exports as Exports
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
    accumulate: (row, b, c) => accumulate(row.byteOffset, b.byteOffset, c.byteOffset, row.length, c.length),
  }
}
