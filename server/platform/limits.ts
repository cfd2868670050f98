const mebibytes = 1024 * 1024

/** What callers may send, and how much is kept for them. `EARSHOT_LIMITS` changes each of these. */
export const defaultLimits = {
  bodyBytes: 1 * mebibytes,
  documentBytes: 4 * mebibytes,
  batchBytes: 32 * mebibytes,
  heldBytes: 256 * mebibytes,
  bodiesPerAddress: 200,
  logoBytes: 2 * mebibytes,
  recordingBytes: 512 * mebibytes,
  metadataBytes: 64 * 1024,
  exportSeconds: 1_800,
  ratePerSecond: 500,
  rateBurst: 2_000,
  streams: 5_000,
  streamsPerOrganization: 2_000,
  streamsPerPerson: 30,
}
export type Limits = typeof defaultLimits
