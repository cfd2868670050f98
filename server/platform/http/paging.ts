import { createHmac, timingSafeEqual } from 'node:crypto'
import { invalid } from '../errors.ts'

/** The position of a page, which starts after the last item of the previous page, in the list's order. */
export type Page = { limit: number; after: string | undefined }

type PageRequest = { limit: number; cursor?: string | undefined }

const macBytes = 12

/**
 * Creates and reads cursors. They are opaque and signed, and `scope` binds them to a list, an organization, and a
 * filter. A cursor from another scope or service is rejected.
 */
export const openPaging = (key: Buffer) => {
  const mac = (scope: unknown, position: string): Buffer =>
    createHmac('sha256', key)
      .update(JSON.stringify([scope, position]))
      .digest()
      .subarray(0, macBytes)

  const read = ({ limit, cursor }: PageRequest, scope: unknown): Page => {
    if (cursor === undefined) return { limit, after: undefined }
    const bytes = Buffer.from(cursor, 'base64url')
    const position = bytes.subarray(macBytes).toString('utf8')
    const canonical = bytes.length > macBytes && bytes.toString('base64url') === cursor
    if (!canonical || !timingSafeEqual(bytes.subarray(0, macBytes), mac(scope, position))) {
      throw invalid('cursor', 'does not belong to this list and filter; start again without it')
    }
    return { limit, after: position }
  }

  const answer = <Row>(rows: Row[], page: Page, scope: unknown, positionOf: (row: Row) => string) => {
    const data = rows.slice(0, page.limit)
    const last = data.at(-1)
    if (rows.length <= page.limit || last === undefined) return { data, nextCursor: null }
    const position = positionOf(last)
    return { data, nextCursor: Buffer.concat([mac(scope, position), Buffer.from(position)]).toString('base64url') }
  }

  return {
    read,
    answer,
    /** Returns the requested page. If there is another page, `list` returns one row more than the limit. */
    page: async <Row>(
      request: PageRequest,
      scope: unknown,
      list: (page: Page) => Promise<Row[]>,
      positionOf: (row: Row) => string,
    ) => {
      const page = read(request, scope)
      return answer(await list(page), page, scope, positionOf)
    },
  }
}

export type Paging = ReturnType<typeof openPaging>
