/**
 * Estimates the tokens of a text: a third too high for English, about right for Chinese. Small windows are better than
 * rejected ones.
 */
export const estimateTokens = (text: string): number => Math.ceil(Buffer.byteLength(text) / 3)

/** Gemini counts this many tokens for a second of sound. OpenAI counts fewer. */
const soundTokensPerSecond = 32

export const estimateSoundTokens = (seconds: number): number => Math.ceil(seconds * soundTokensPerSecond)
