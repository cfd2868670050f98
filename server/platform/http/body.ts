import { isUtf8 } from 'node:buffer'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ApiError, type Issue } from '../errors.ts'

/** No published body nests deeper than a rich-text document; beyond this, serializers and PostgreSQL recurse. */
const maxDepth = 64

const refused = (message: string) => new ApiError('invalid', message, { issues: [{ path: '', message }] })

/** How deep the brackets of a JSON text nest. */
const depthOf = (text: string): number => {
  let depth = 0
  let deepest = 0
  let inString = false
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i)
    if (inString) {
      if (char === 0x5c) i++
      else if (char === 0x22) inString = false
    } else if (char === 0x22) inString = true
    else if (char === 0x7b || char === 0x5b) deepest = Math.max(deepest, ++depth)
    else if (char === 0x7d || char === 0x5d) depth--
  }
  return deepest
}

const isSound = (text: string): boolean => !text.includes('\0') && text.isWellFormed()

/** Every string and property name that PostgreSQL could not hold: with NUL, or with half of a surrogate pair. */
const unsoundText = (value: unknown, path = ''): Issue[] => {
  const issues: Issue[] = []
  const visit = (part: unknown, at: string): void => {
    if (typeof part === 'string') {
      if (!isSound(part)) issues.push({ path: at, message: 'must not hold NUL or a lone surrogate' })
    } else if (Array.isArray(part)) {
      part.forEach((item, index) => {
        visit(item, `${at}[${index}]`)
      })
    } else if (typeof part === 'object' && part !== null) {
      for (const [name, item] of Object.entries(part)) {
        const inside = at === '' ? name : `${at}.${name}`
        if (!isSound(name))
          issues.push({ path: inside.toWellFormed(), message: 'is a name with NUL or a lone surrogate' })
        visit(item, inside)
      }
    }
  }
  visit(value, path)
  return issues
}

// Only these escapes can bring such text into JSON of valid UTF-8.
const suspiciousEscape = /\\u(?:0000|d[89a-f])/i

/** Reads a JSON body, refusing what cannot be stored or would exhaust a stack, before any schema sees it. */
const parseJson = (bytes: Buffer): unknown => {
  if (!isUtf8(bytes)) throw refused('The body is not valid UTF-8.')
  const text = bytes.toString('utf8')
  if (text.length > maxDepth * 2 && depthOf(text) > maxDepth) {
    throw refused(`The body nests deeper than ${maxDepth} levels.`)
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw refused(`The body is not valid JSON: ${(error as Error).message}.`)
  }
  if (suspiciousEscape.test(text)) {
    const issues = unsoundText(value)
    if (issues.length > 0) throw new ApiError('invalid', 'Text in the body cannot be stored.', { issues })
  }
  return value
}

const mediaTypes = {
  json: { form: /^application\/json\s*(?:;\s*charset="?utf-8"?\s*)?$/i, name: 'application/json' },
  image: { form: /^image\/[\w.+-]+\s*$/i, name: 'image/*' },
}

const bodyless = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE'])

/** Refuses a body that the route does not take, before it is read. */
export const checkMediaType = (request: FastifyRequest): void => {
  const { headers, method } = request
  const length = headers['content-length']
  const empty = headers['transfer-encoding'] === undefined && (length === undefined || length === '0')
  if (empty && (method === 'GET' || request.routeOptions.config.takes !== 'image')) return
  if (!empty && bodyless.has(method)) throw refused(`${method} takes no body.`)
  const { form, name } = mediaTypes[request.routeOptions.config.takes ?? 'json']
  if (!form.test(headers['content-type'] ?? '')) {
    throw new ApiError('unsupportedMediaType', `Send the body with Content-Type: ${name}.`)
  }
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity') {
    throw new ApiError('unsupportedMediaType', 'Send the body without Content-Encoding.')
  }
}

/** Path and query string hold such text only when it is percent-encoded. */
export const checkUrlText = (request: FastifyRequest): void => {
  if (!request.url.includes('%')) return
  const issues = [...unsoundText(request.params), ...unsoundText(request.query)]
  if (issues.length > 0) throw new ApiError('invalid', 'Text in the address cannot be stored.', { issues })
}

export const addBodyParser = (app: FastifyInstance): void => {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async (request: FastifyRequest, bytes: Buffer) => {
    if (request.routeOptions.config.takes === 'image') return bytes
    if (bytes.length === 0) return undefined
    const value = parseJson(bytes)
    // What Fastify would hand on as if no body had been sent.
    if (value === null) throw refused('The body must be a JSON object.')
    return value
  })
}
