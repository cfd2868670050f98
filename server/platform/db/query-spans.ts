import type { Span } from '@opentelemetry/api'
import type { LogEvent } from 'kysely'
import { beginChildSpan, endSpan } from '../telemetry/span.ts'

/** Long enough to recognize a statement. */
const maxTextLength = 2_000

/** Starts a span for a statement. Its text contains placeholders, and the values are not traced. */
export const beginQuery = (text: string, startTime = Date.now()): Span | undefined =>
  beginChildSpan(/^\W*(\w+)/.exec(text)?.[1]?.toUpperCase() ?? 'query', {
    kind: 'client',
    attributes: { 'db.system.name': 'postgresql', 'db.query.text': text.slice(0, maxTextLength) },
    startTime,
  })

/** Records a span for a statement that has ended. */
export const recordQuery = ({ query, queryDurationMillis, ...event }: LogEvent): void => {
  const span = beginQuery(query.sql, Date.now() - queryDurationMillis)
  endSpan(span, event.level === 'error' ? event.error : undefined)
}
