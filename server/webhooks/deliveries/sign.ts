import { createHmac } from 'node:crypto'

/** Returns the headers of Standard Webhooks 1.0.0, with one signature for each valid secret. */
export const signedHeaders = (
  secrets: string[],
  { id, timestamp, body }: { id: string; timestamp: Date; body: string },
) => {
  const seconds = Math.floor(timestamp.getTime() / 1_000)
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')}`
  })
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': signatures.join(' '),
  }
}
