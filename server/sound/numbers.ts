/** A list of numbers that grows without copying all of them each time. */
export const openNumbers = () => {
  let values = new Float32Array(4_096)
  let length = 0
  return {
    push: (value: number): void => {
      if (length === values.length) {
        const larger = new Float32Array(2 * length)
        larger.set(values)
        values = larger
      }
      values[length++] = value
    },
    all: (): Float32Array => values.subarray(0, length),
  }
}
