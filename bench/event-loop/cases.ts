export type SpecialCase = {
  name: string
  method: string
  path: string
  contentType: string
  key: string | undefined
  bodies: () => { name: string; bytes: Buffer; headers?: Record<string, string>; path?: string }[]
}

type Call = (method: string, path: string, key: string, body?: object) => Promise<Record<string, never>>

/** What a schema cannot tell of: bodies that fit, and are slow in what is done with them. */
export const specialCases = async (_server: {
  call: Call
  key: string
  serviceKey: string
  origin: string
}): Promise<SpecialCase[]> => []
