// Serves the test store like a customer's bucket: over HTTPS, with a certificate that this process trusts.
import { createServer } from 'node:https'
import { onTestFinished } from 'vitest'
import { forward, listen, passOn } from '../../outside.ts'
import { startS3Server } from '../../s3-server.ts'
import { receiverCertificate, receiverKey } from '../webhooks/receiver.ts'

export const openTestBucket = async () => {
  const store = await startS3Server()
  onTestFinished(store.close)
  const server = createServer({ key: receiverKey, cert: receiverCertificate }, async (incoming, outgoing) =>
    passOn(await forward(incoming, outgoing, store.endpoint), outgoing),
  )
  const { port, connections } = await listen(server)
  const { accessKeyId, secretAccessKey, region } = store.credentials
  const destination = {
    type: 's3',
    bucket: store.bucket,
    region,
    endpoint: `https://127.0.0.1:${port}`,
    accessKeyId,
    secretAccessKey,
  }
  return { store, destination, connections }
}
