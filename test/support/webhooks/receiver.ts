// Starts a webhook receiver for tests. It is a real HTTPS server on this machine that verifies signatures like a
// customer's.
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import { text } from 'node:stream/consumers'
import { setDefaultCACertificates } from 'node:tls'
import { Webhook } from 'standardwebhooks'
import { vi } from 'vitest'
import { listen } from '../../outside.ts'

// This certificate for 127.0.0.1 is only trusted by processes that import this file.
export const receiverKey = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgZ9/3zZ83Vhsu6cqI
c74nrWM06sESJNKauLIuEWNqtyihRANCAAQoqrqpuSD9ftEGVWrbYuU5+VtrQBTx
d5DgfD73Q7li6bwPMLRLVH6sMdsHOb35hThwxFvpR4T6gm6bmyHZaaEv
-----END PRIVATE KEY-----`
export const receiverCertificate = `-----BEGIN CERTIFICATE-----
MIIBcTCCARegAwIBAgIBATAKBggqhkjOPQQDAjAgMR4wHAYDVQQDDBVyZWNlaXZl
ciBvZiB0aGUgdGVzdHMwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBa
MCAxHjAcBgNVBAMMFXJlY2VpdmVyIG9mIHRoZSB0ZXN0czBZMBMGByqGSM49AgEG
CCqGSM49AwEHA0IABCiquqm5IP1+0QZVatti5Tn5W2tAFPF3kOB8PvdDuWLpvA8w
tEtUfqwx2wc5vfmFOHDEW+lHhPqCbpubIdlpoS+jQDA+MA8GA1UdEQQIMAaHBH8A
AAEwDAYDVR0TBAUwAwEB/zAdBgNVHQ4EFgQUlAsvim9lMhi2K57bUU2CqbJxV+gw
CgYIKoZIzj0EAwIDSAAwRQIhANeBC4pbAznRaM2V6y/spk2kGmpivQz1JG2OHuFT
idjiAiBzRuCXWqKYXdRcPeFKEUMfBOlthFtFq77c6vt4gmPFCA==
-----END CERTIFICATE-----`

setDefaultCACertificates([receiverCertificate])

export type Received = { headers: IncomingHttpHeaders; body: string }

/** A status, or a function that sends a complete response. */
type Answer = number | ((request: IncomingMessage, response: ServerResponse) => void)

/** Responds to each request with the next answer, and repeats the last one. */
export const openReceiver = async (...answers: [Answer, ...Answer[]]) => {
  const received: Received[] = []
  const server = createServer({ key: receiverKey, cert: receiverCertificate }, async (request, response) => {
    const answer = answers[Math.min(received.length, answers.length - 1)] ?? 500
    received.push({ headers: request.headers, body: await text(request) })
    if (typeof answer === 'function') answer(request, response)
    else response.writeHead(answer).end()
  })
  const { port, open } = await listen(server)
  return { url: `https://127.0.0.1:${port}/hooks?from=earshot`, received, open }
}

/** Verifies a request at the given time with the receiver's library, which throws if the signature is invalid. */
export const verify = (secret: string, { headers, body }: Received, at: Date): unknown => {
  vi.useFakeTimers({ toFake: ['Date'], now: at })
  try {
    return new Webhook(secret).verify(body, headers as Record<string, string>)
  } finally {
    vi.useRealTimers()
  }
}
