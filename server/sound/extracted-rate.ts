/** The sample rate of extracted sound, which models of speech use internally. */
export const extractedRate = 16_000
