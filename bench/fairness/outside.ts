import { once } from 'node:events'
import { setDefaultCACertificates } from 'node:tls'
import { Worker } from 'node:worker_threads'
import { makeCertificate } from '../certificate.ts'

/** All external services: a model, recordings, a webhook receiver, and a bucket. Each request takes this long. */
export const answerMs = 400

/** In a separate thread, so that its work is not counted here. Only this process trusts its certificate. */
export const openOutside = async () => {
  const certificate = await makeCertificate()
  setDefaultCACertificates([certificate.cert])
  const thread = new Worker(new URL('./outside-server.ts', import.meta.url), { workerData: { certificate, answerMs } })
  const [port] = await once(thread, 'message')
  return { url: `https://127.0.0.1:${port}`, close: () => thread.terminate() }
}
