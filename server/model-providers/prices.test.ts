import { describe, expect, it } from 'vitest'
import packageFile from '../../package.json' with { type: 'json' }
import { costOf, findPrice, priceTable } from './prices.ts'

const tokens = { input: 1_000_000, output: 100_000, cachedInput: 0, cacheWrite: 0 }
const anthropic = { kind: 'anthropic', settings: {}, prices: {} } as const

describe('the bundled table', () => {
  it('is the installed version', () => {
    const version = packageFile.dependencies['@pydantic/genai-prices']
    expect(priceTable.source, 'Also set the date in prices.ts to the day on which this version was published.').toBe(
      `@pydantic/genai-prices ${version}`,
    )
  })

  it.each([
    ['anthropic', {}, 'claude-sonnet-4-5', { input: 3, output: 15, cachedInput: 0.3, cacheWrite: 3.75 }],
    ['anthropic', {}, 'claude-sonnet-4-5-20250929', { input: 3, output: 15 }],
    ['openai-compatible', {}, 'gpt-5-mini', { input: 0.25, output: 2, cachedInput: 0.025 }],
    ['openai-compatible', { baseUrl: 'https://api.openai.com/v1' }, 'gpt-5-mini', { input: 0.25 }],
    ['google', {}, 'gemini-2.5-flash', { input: 0.3, output: 2.5 }],
    ['azure-openai', { baseUrl: 'https://acme.openai.azure.com' }, 'gpt-5-mini', { input: 0.25, output: 2 }],
    ['bedrock', { region: 'us-east-1' }, 'amazon.nova-lite-v1:0', { input: 0.06, output: 0.24 }],
  ] as const)('knows models of %s with %j: %s', async (kind, settings, model, expected) => {
    const { price } = await findPrice({ kind, settings, prices: {} }, model)
    expect(price).toMatchObject({ ...expected, source: 'table' })
  })

  it.each([
    ['openai-compatible', { baseUrl: 'http://127.0.0.1:8000/v1' }, 'gpt-5-mini'],
    ['openai-compatible', { baseUrl: 'https://models.example.com' }, 'gpt-5-mini'],
    ['ollama', { baseUrl: 'http://127.0.0.1:11434' }, 'llama3.3'],
    ['azure-openai', { baseUrl: 'https://acme.openai.azure.com' }, 'our-deployment'],
    ['anthropic', {}, 'constructor'],
  ] as const)('does not guess for %s with %j: %s', async (kind, settings, model) => {
    const { price, costOf: cost } = await findPrice({ kind, settings, prices: {} }, model)
    expect([price, cost(tokens)]).toEqual([undefined, null])
  })

  it('knows that cached input and long prompts have other prices', async () => {
    const sonnet = await findPrice(anthropic, 'claude-sonnet-4-5')
    const input = { input: 100_000, output: 0, cachedInput: 60_000, cacheWrite: 20_000 }
    expect(sonnet.costOf(input)).toBeCloseTo((20_000 * 3 + 60_000 * 0.3 + 20_000 * 3.75) / 1_000_000)
    const gemini = await findPrice({ kind: 'google', settings: {}, prices: {} }, 'gemini-2.5-pro')
    const long = { input: 300_000, output: 0, cachedInput: 0, cacheWrite: 0 }
    expect(gemini.costOf(long)).toBeCloseTo(0.75)
    expect(gemini.price?.input).toBe(1.25)
  })
})

describe('a price of the provider', () => {
  it('replaces that of the table', async () => {
    const prices = { 'claude-sonnet-4-5': { input: 1, output: 2 } }
    const { price, costOf: cost } = await findPrice({ ...anthropic, prices }, 'claude-sonnet-4-5')
    expect(price).toEqual({ input: 1, output: 2, source: 'provider' })
    expect(cost(tokens)).toBeCloseTo(1.2)
  })

  it('of input applies to cached input unless that has its own', () => {
    const cached = { input: 1_000, output: 0, cachedInput: 400, cacheWrite: 100 }
    expect(costOf({ input: 10, output: 0 }, cached)).toBeCloseTo(0.01)
    expect(costOf({ input: 10, output: 0, cachedInput: 1, cacheWrite: 20 }, cached)).toBeCloseTo(0.0074)
  })

  it('of zero is a price', () => {
    expect(costOf({ input: 0, output: 0 }, tokens)).toBe(0)
    expect(costOf(undefined, tokens)).toBeNull()
    expect(costOf({ input: 1, output: 1 }, null)).toBeNull()
  })
})
