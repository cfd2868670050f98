// The types of the interface are those of the client library.
export type { paths, Schemas } from '../../client/src/schema.ts'
