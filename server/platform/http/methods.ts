import type { FastifyInstance } from 'fastify'

export type Methods = {
  /** Of a request's path; undefined where there is no such address. */
  of: (path: string) => string[] | undefined
  /** The router takes `/calls/search` for `/calls/:id` where only the latter has the method; this tells. */
  isMistaken: (method: string, path: string) => boolean
}

/** Remembers the methods of every address, so that one which an address does not have is answered with what it has. */
export const watchMethods = (app: FastifyInstance): Methods => {
  const methodsOf = new Map<string, Set<string>>()
  app.addHook('onRoute', ({ url, method }) => {
    const methods = methodsOf.get(url) ?? new Set()
    for (const each of [method].flat()) methods.add(each)
    methodsOf.set(url, methods)
  })
  let addresses: { form: RegExp; methods: string[] }[] | undefined
  return {
    of: (path) => {
      // Fixed addresses first, as the router chooses.
      addresses ??= [...methodsOf]
        .sort(([a], [b]) => a.split(':').length - b.split(':').length)
        .map(([url, methods]) => ({
          form: new RegExp(`^${url.replaceAll('.', '\\.').replace(/:\w+/g, '[^/]+')}$`),
          methods: [...methods].sort(),
        }))
      return addresses.find(({ form }) => form.test(path))?.methods
    },
    isMistaken: (method, path) => methodsOf.get(path)?.has(method) === false,
  }
}
