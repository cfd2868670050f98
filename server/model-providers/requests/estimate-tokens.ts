/**
 * Estimates the number of tokens in text. The estimate is a third too high for English and about right for Chinese,
 * because small windows are better than rejected ones.
 */
export const estimateTokens = (text: string): number => Math.ceil(Buffer.byteLength(text) / 3)

/** Gemini counts this many tokens per second of sound. OpenAI counts fewer. */
const soundTokensPerSecond = 32

export const estimateSoundTokens = (seconds: number): number => Math.ceil(seconds * soundTokensPerSecond)
