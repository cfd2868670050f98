/** The sample rate of extracted sound. Speech models use the same rate internally. */
export const extractedRate = 16_000
