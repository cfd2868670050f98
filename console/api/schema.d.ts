// The API's types are those of the client library.
export type { paths, Schemas } from '../../client/src/schema.ts'
