const mebibytes = 1024 * 1024

/** The default limits for callers' requests and stored data. `EARSHOT_LIMITS` can change each of them. */
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
