// Starts a mail server for tests. It is a real server on this machine that parses the mail it accepts.
import { text as readText } from 'node:stream/consumers'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { onTestFinished } from 'vitest'
import { receiverCertificate, receiverKey } from './webhooks/receiver.ts'

export type ReceivedMail = {
  sender: string
  recipients: string[]
  /** Whether the mail arrived over TLS. */
  encrypted: boolean
  user: string | undefined
  /** The decoded headers by their names in lowercase. */
  headers: Record<string, string>
  text: string
  raw: string
}

/** The response to a message, or earlier to its recipient. The server accepts a message if it is undefined. */
type Refusal = { code: number; message: string; at?: 'recipient' } | undefined

const decodeQuoted = (text: string): string =>
  Buffer.from(
    text.replace(/=\r?\n/g, '').replace(/=([\dA-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  ).toString()

/** Decodes words that are encoded according to RFC 2047. */
const decodeWords = (value: string): string =>
  value
    .replace(/\?=\s+=\?/g, '?==?')
    .replace(/=\?utf-8\?([qb])\?([^?]*)\?=/gi, (_, how: string, word: string) =>
      how.toLowerCase() === 'b' ? Buffer.from(word, 'base64').toString() : decodeQuoted(word.replaceAll('_', ' ')),
    )

const readMail = (raw: string) => {
  const end = raw.indexOf('\r\n\r\n')
  const lines = raw
    .slice(0, end)
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), decodeWords(line.slice(colon + 1).trim())]
    }),
  )
  return { headers, text: decodeQuoted(raw.slice(end + 4)).replaceAll('\r\n', '\n'), raw }
}

const refuse = ({ code, message }: { code: number; message: string }) =>
  Object.assign(new Error(message), { responseCode: code })

/**
 * Starts a server that responds to each message with the next answer, and accepts all messages after the last answer.
 */
export const openMailServer = async (options: SMTPServerOptions = {}, ...answers: Refusal[]) => {
  const received: ReceivedMail[] = []
  let offered = 0
  const server = new SMTPServer({
    key: receiverKey,
    cert: receiverCertificate,
    authOptional: true,
    disableReverseLookup: true,
    onAuth: ({ username, password }, _session, done) => {
      if (username === 'earshot' && password === 'correct&horse') done(null, { user: username })
      else done(new Error('Wrong user or password'))
    },
    onRcptTo: (_address, _session, done) => {
      const answer = answers[offered]
      if (answer?.at !== 'recipient') return done()
      offered++
      done(refuse(answer))
    },
    onData: async (stream, { envelope, secure, user }, done) => {
      const raw = await readText(stream)
      const answer = answers[offered++]
      if (answer) return done(refuse(answer))
      received.push({
        sender: envelope.mailFrom ? envelope.mailFrom.address : '',
        recipients: envelope.rcptTo.map(({ address }) => address),
        encrypted: secure,
        user,
        ...readMail(raw),
      })
      done()
    },
    ...options,
  })
  // A client hangs up if it does not trust the server.
  server.on('error', () => {})
  const listening = Promise.withResolvers<void>()
  server.listen(0, '127.0.0.1', listening.resolve)
  await listening.promise
  const { port } = server.server.address() as { port: number }
  const close = () => new Promise<void>((resolve) => server.close(resolve))
  onTestFinished(close)
  return { port, received, offered: () => offered, close }
}
