import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setDefaultCACertificates } from 'node:tls'
import { Worker } from 'node:worker_threads'

/** All external services: a model, recordings, a webhook receiver, and a bucket. Each request takes this long. */
export const answerMs = 400

const certificateOf = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'earshot-bench-tls-'))
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const request = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2']
  const subject = ['-subj', '/CN=bench', '-addext', 'subjectAltName=IP:127.0.0.1']
  try {
    execFileSync('openssl', [...request, ...subject, '-keyout', key, '-out', cert], { stdio: 'ignore' })
    return { key: await readFile(key, 'utf8'), cert: await readFile(cert, 'utf8') }
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** In a separate thread, so that its work is not counted here. Only this process trusts its certificate. */
export const openOutside = async () => {
  const certificate = await certificateOf()
  setDefaultCACertificates([certificate.cert])
  const thread = new Worker(new URL('./outside-server.ts', import.meta.url), { workerData: { certificate, answerMs } })
  const [port] = await once(thread, 'message')
  return { url: `https://127.0.0.1:${port}`, close: () => thread.terminate() }
}
