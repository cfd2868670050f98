import { EarshotError } from './errors.ts'

// A list that requests its pages as you read it.

export type Page<T> = { data: T[]; nextCursor: string | null }

export type Paged<T> = AsyncIterable<T> & {
  /** Returns one page: the first one, or the one at the given `cursor`. */
  page: () => Promise<Page<T>>
  /** Yields one page after the other. A page has 200 items unless `limit` is set. */
  pages: () => AsyncGenerator<Page<T>>
  /** Returns all items in memory at once. */
  all: () => Promise<T[]>
}

/** The maximum page size. */
const pageSize = 200

export const makePaged = <T>(ask: (changes: { limit?: number; cursor?: string }) => Promise<Page<T>>): Paged<T> => {
  async function* pages() {
    let page = await ask({ limit: pageSize })
    yield page
    while (page.nextCursor !== null) {
      const { nextCursor: cursor } = page
      page = await ask({ limit: pageSize, cursor })
      if (page.nextCursor === cursor)
        throw new EarshotError('The list returned the same page again', { code: 'unexpected response' })
      yield page
    }
  }
  async function* items() {
    for await (const { data } of pages()) yield* data
  }
  return {
    page: () => ask({}),
    pages,
    all: async () => {
      const found: T[] = []
      for await (const item of items()) found.push(item)
      return found
    },
    [Symbol.asyncIterator]: items,
  }
}
