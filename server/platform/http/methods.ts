import type { FastifyInstance } from 'fastify'

export type Methods = {
  /** Returns the methods for a path, or undefined if the path is unknown. */
  of: (path: string) => string[] | undefined
  /**
   * Returns whether the router has confused two paths: if only `/calls/:id` has the method, it also matches
   * `/calls/search`.
   */
  isMistaken: (method: string, path: string) => boolean
}

/** Collects the methods of all paths for the Allow header. */
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
      // Fixed paths come first, as in the router.
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
