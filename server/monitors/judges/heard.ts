/**
 * The longest sound that a judge hears: 13 MB as a WAV file, and 18 MB in a request, which is below the limit of 20 MB of
 * Gemini.
 */
export const longestHeardMs = 7 * 60_000
