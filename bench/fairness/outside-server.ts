import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'

const { certificate, answerMs } = workerData as { certificate: { key: string; cert: string }; answerMs: number }

const content = JSON.stringify({ result: 'not_affected', reasoning: 'Nothing.', evidence: [] })
const completion = JSON.stringify({
  choices: [{ message: { role: 'assistant', content }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 10, completion_tokens: 10 },
})
const recording = Buffer.concat([Buffer.from('RIFF\0\0\0\0WAVE'), Buffer.alloc(200_000)])

const server = createServer(certificate, (request, response) => {
  const answer = () => {
    if (request.url?.startsWith('/v1/')) response.setHeader('content-type', 'application/json').end(completion)
    else if (request.url?.startsWith('/recordings/')) response.setHeader('content-type', 'audio/wav').end(recording)
    else response.setHeader('etag', '"bench"').end()
  }
  request.resume().on('end', () => setTimeout(answer, answerMs))
})
server.listen(0, '127.0.0.1', () => parentPort?.postMessage((server.address() as AddressInfo).port))
