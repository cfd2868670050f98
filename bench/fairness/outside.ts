import { once } from 'node:events'
import { setDefaultCACertificates } from 'node:tls'
import { Worker } from 'node:worker_threads'
import { makeCertificate } from '../certificate.ts'

/** How long each request to an external service takes: a model, recordings, a webhook receiver, and a bucket. */
export const answerMs = 400

/**
 * Opens the external services in a separate thread, so that their work does not count here. Only this process trusts
 * their certificate.
 */
export const openOutside = async () => {
  const certificate = await makeCertificate()
  setDefaultCACertificates([certificate.cert])
  const thread = new Worker(new URL('./outside-server.ts', import.meta.url), { workerData: { certificate, answerMs } })
  const [port] = await once(thread, 'message')
  return { url: `https://127.0.0.1:${port}`, close: () => thread.terminate() }
}
