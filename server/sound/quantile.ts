/** Returns the value below which this share of the values lies, or undefined if there are no values. */
export const quantile = (values: ArrayLike<number>, share: number): number | undefined =>
  Float64Array.from(values).sort()[Math.floor(share * values.length)]
