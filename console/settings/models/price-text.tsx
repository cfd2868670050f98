import type { ModelPrice } from './queries.ts'

const dollars = (price: number): string => `$${Number(price.toPrecision(6))}`

/** Shows the price for a million tokens of input and output. */
export const PriceText = ({ price }: { price: ModelPrice | null }) =>
  price ? (
    <span title={price.source === 'table' ? 'From the bundled table' : 'Set for this provider'}>
      {dollars(price.input)} / {dollars(price.output)}
    </span>
  ) : (
    <>Unknown</>
  )
