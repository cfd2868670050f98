// Sorts vectors into cells, so that a search only reads the cells near the query (k-means with cosine similarity).

import type { Kernel, Matrix } from '../../platform/matrices/kernel.ts'
import { dimensions } from '../encoder/sentence-encoder.ts'
import { quantize } from '../vectors.ts'

/** Vectors with one signed byte per dimension, stored consecutively. */
export type Vectors = Int8Array

const rounds = 8
/** The number of vectors to compare with the centers at once. */
const block = 1_024

/** Returns the number of bytes that the matrix products for this many cells need. */
export const bytesFor = (cells: number): number => 4 * (dimensions * cells + block * (dimensions + cells)) + 65_536

const countOf = (vectors: Vectors): number => vectors.length / dimensions

/** Copies vectors, scaled to unit length. */
const copyUnits = (vectors: ArrayLike<number>, start: number, count: number, to: Float32Array): void => {
  for (let vector = 0; vector < count; vector++) {
    const from = (start + vector) * dimensions
    let squares = 0
    for (let at = 0; at < dimensions; at++) squares += (vectors[from + at] as number) ** 2
    const factor = squares === 0 ? 0 : 1 / Math.sqrt(squares)
    for (let at = 0; at < dimensions; at++) to[vector * dimensions + at] = (vectors[from + at] as number) * factor
  }
}

const transpose = (centers: Float32Array): Float32Array => {
  const cells = centers.length / dimensions
  const columns = new Float32Array(centers.length)
  for (let cell = 0; cell < cells; cell++) {
    for (let at = 0; at < dimensions; at++) columns[at * cells + cell] = centers[cell * dimensions + at] as number
  }
  return columns
}

const indexOfLargest = (scores: Matrix, start: number, count: number): number => {
  let largest = start
  for (let at = start + 1; at < start + count; at++) {
    if ((scores[at] as number) > (scores[largest] as number)) largest = at
  }
  return largest - start
}

/** Compares all vectors with unit-length centers. Calls `onNearest` with each vector and its nearest cell. */
const openComparison = (kernel: Kernel, cells: number) => {
  const packed = kernel.pack(new Float32Array(cells * dimensions), cells)
  const units = kernel.allocate(block * dimensions)
  const scores = kernel.allocate(block * cells)
  return (
    vectors: Vectors,
    centers: Float32Array,
    onNearest: (index: number, cell: number, unit: Float32Array) => void,
  ): void => {
    kernel.pack(transpose(centers), cells, packed)
    for (let start = 0; start < countOf(vectors); start += block) {
      const count = Math.min(block, countOf(vectors) - start)
      units.fill(0)
      copyUnits(vectors, start, count, units)
      kernel.multiplyPacked(units, packed, scores, block)
      for (let vector = 0; vector < count; vector++) {
        const unit = units.subarray(vector * dimensions, (vector + 1) * dimensions)
        onNearest(start + vector, indexOfLargest(scores, vector * cells, cells), unit)
      }
    }
  }
}

const quantizeCenters = (centers: Float32Array): Vectors => {
  const quantized = new Int8Array(centers.length)
  for (let start = 0; start < centers.length; start += dimensions) {
    quantized.set(quantize(centers.subarray(start, start + dimensions)), start)
  }
  return quantized
}

/** Returns the centers of cells. The sample must be in random order. The number of cells must be a multiple of 8. */
export const learnCenters = (kernel: Kernel, sample: Vectors, cells: number): Vectors => {
  const compare = openComparison(kernel, cells)
  const centers = new Float32Array(cells * dimensions)
  const count = countOf(sample)
  for (let cell = 0; cell < cells; cell++) {
    copyUnits(sample, cell % count, 1, centers.subarray(cell * dimensions, (cell + 1) * dimensions))
  }
  for (let round = 0; round < rounds; round++) {
    const sums = new Float32Array(centers.length)
    compare(sample, centers, (_, cell, unit) => {
      const start = cell * dimensions
      for (let at = 0; at < dimensions; at++) sums[start + at] = (sums[start + at] as number) + (unit[at] as number)
    })
    for (let cell = 0; cell < cells; cell++) {
      const sum = sums.subarray(cell * dimensions, (cell + 1) * dimensions)
      const center = centers.subarray(cell * dimensions, (cell + 1) * dimensions)
      // An empty cell restarts from another vector.
      if (sum.every((value) => value === 0)) copyUnits(sample, (cells + cell * (round + 1)) % count, 1, center)
      else copyUnits(sum, 0, 1, center)
    }
  }
  return quantizeCenters(centers)
}

/** Returns the number of the nearest center for each vector. */
export const assignCells = (kernel: Kernel, vectors: Vectors, centers: Vectors): Int32Array => {
  const cells = countOf(centers)
  const units = new Float32Array(centers.length)
  copyUnits(centers, 0, cells, units)
  const assigned = new Int32Array(countOf(vectors))
  openComparison(kernel, cells)(vectors, units, (index, cell) => {
    assigned[index] = cell
  })
  return assigned
}
