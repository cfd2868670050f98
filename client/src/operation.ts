// The types of an operation's request and response, selected by its path and method.

import type { paths } from './schema.ts'

type Json = 'application/json'
type Present<T> = Exclude<T, null | undefined>

export type Query<P extends keyof paths, M extends keyof paths[P]> = paths[P][M] extends {
  parameters: { query?: infer Q }
}
  ? Present<Q>
  : never

export type Body<P extends keyof paths, M extends keyof paths[P]> = paths[P][M] extends {
  requestBody?: infer R
}
  ? Present<R> extends { content: { [kind in Json]: infer B } }
    ? Present<B>
    : never
  : never

/** The content of successful responses. `default` is an error. */
type Contents<R> = {
  [S in Exclude<keyof R, 'default'>]: R[S] extends { content: { [kind in Json]: infer C } } ? C : undefined
}[Exclude<keyof R, 'default'>]

/** The response of an operation, or undefined if it has no content. */
export type Answer<P extends keyof paths, M extends keyof paths[P]> = paths[P][M] extends { responses: infer R }
  ? Contents<R>
  : never

export type Item<P extends keyof paths, M extends keyof paths[P]> =
  Answer<P, M> extends { data: (infer I)[] } ? I : never
