import { describe, expect, it } from 'vitest'
import { labelClusters } from './labels.ts'
import { termsOf } from './terms.ts'

describe('terms', () => {
  it('are the telling words and the pairs of neighbors', () => {
    expect(termsOf('I want to cancel my order, the order of 2 shoes.')).toEqual(['cancel', 'order', 'order', 'shoes'])
    expect(termsOf('My refund request failed')).toEqual([
      'refund',
      'request',
      'refund request',
      'failed',
      'request failed',
    ])
  })

  it('exist in any alphabet', () => {
    expect(termsOf('Где мой заказ?')).toContain('заказ')
  })
})

describe('labels', () => {
  it('tell clusters apart', () => {
    const delivery = ['Where is my parcel?', 'My parcel has not arrived', 'The parcel is late, customer number 5']
    const refund = ['I want my money back', 'Money back please', 'Give me the money back, customer number 7']
    const [ofDelivery, ofRefund] = labelClusters([delivery, refund])
    expect(ofDelivery?.[0]).toBe('parcel')
    expect(ofRefund?.[0]).toBe('money back')
    expect([...(ofDelivery ?? []), ...(ofRefund ?? [])]).not.toContain('customer')
  })

  it('are empty without telling words', () => {
    expect(labelClusters([['Yes.', 'Ok.', 'Yes please']])).toEqual([[]])
  })
})
