/**
 * The maximum length of sound that a judge hears: 13 MB as a WAV file, and 18 MB in a request, which is below Gemini's
 * limit of 20 MB.
 */
export const longestHeardMs = 7 * 60_000
