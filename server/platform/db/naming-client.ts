import pg from 'pg'

/**
 * The maximum number of statements that get a name on a connection. Others stay unnamed, so that a server session's
 * memory is limited.
 */
const maxNames = 1_000
const maxTextLength = 10_000

/**
 * Marks a statement that stays unnamed and is planned each time, because its plan depends on its values or its text
 * depends on the caller.
 */
export const plannedEachTime = '/* planned each time */'

/** When placed at its end, marks a statement that may take minutes in a transaction that allows it. */
export const takesLong = '/* takes long */'
/** This is longer than such a transaction allows, so the server ends the statement itself. */
const longAnswerMs = 250_000

/**
 * pg's message for `query_timeout`, and the codes of PostgreSQL's fatal messages, which are the same in every language.
 */
const answerTimedOut = 'Query read timeout'
const lastWords = /^(57P|25P0[34])/

/**
 * Returns whether a connection is unusable after this error, because the response to an abandoned statement may still
 * arrive, or because the server closes the connection.
 */
const endsConnection = (error: Error | null): error is Error =>
  error?.message === answerTimedOut ||
  (error instanceof pg.DatabaseError && (error.severity === 'FATAL' || lastWords.test(error.code ?? '')))

/**
 * A pg client that names each parameterized statement, so that PostgreSQL parses and plans it only once per connection.
 * This allows 1.5 times as many lookups.
 */
export class NamingClient extends pg.Client {
  readonly #names = new Map<string, string>()

  // biome-ignore lint/suspicious/noExplicitAny: pg declares ten overloads of query, and this passes all of them on.
  override query(config: any, values?: any, callback?: any): any {
    if (typeof config !== 'string' || !Array.isArray(values)) return super.query(config, values, callback)
    if (callback) return this.#run(config, values, callback)
    return new Promise((resolve, reject) => {
      this.#run(config, values, (error, result) => (error ? reject(error) : resolve(result)))
    })
  }

  /** Returns undefined for a statement that is planned each time. */
  protected nameOf(text: string): string | undefined {
    const known = this.#names.get(text)
    if (known || this.#names.size >= maxNames || text.length > maxTextLength || text.includes(plannedEachTime)) {
      return known
    }
    const name = `s${this.#names.size + 1}`
    this.#names.set(text, name)
    return name
  }

  /**
   * Runs a query. The query is created from its text and named afterwards, which keeps pg from copying a configuration
   * object.
   */
  #run(text: string, values: unknown[], told: (error: Error | null, result: unknown) => void): void {
    const callback = (error: Error | null, result: unknown) => {
      if (!endsConnection(error)) return told(error, result)
      // The pool removes a closed connection only after this event.
      this.once('end', () => told(error, result))
      this.connection.stream.destroy(error)
    }
    const timeout = text.endsWith(takesLong) && { query_timeout: longAnswerMs }
    super.query(Object.assign(new pg.Query(text, values), { name: this.nameOf(text), callback }, timeout))
  }
}
