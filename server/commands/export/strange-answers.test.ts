import { createHash } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { runInOne } from '../../../test/earshot.ts'
import { listen } from '../../../test/outside.ts'
import { Damaged, downloadFile } from './download.ts'
import { openRemote } from './remote.ts'

/** An unexpected response, for example from a proxy, a sign-in page, or a broken storage. */

type Answer = (request: IncomingMessage, response: ServerResponse) => unknown

const content = Buffer.from('0123456789')
const digest = `sha-256=:${createHash('sha256').update(content).digest('base64')}:`
const id = '0197a3b0-5e1c-7c3a-9a59-3f1f0c2d4e5f'
const page = '<h1>Sign in</h1>'

const run = (url: string, ...args: string[]) =>
  runInOne(['export', ...args], { EARSHOT_URL: url, EARSHOT_KEY: 'ear_any' })

const makeFolder = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'earshot-strange-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

const link: Answer = (_request, response) =>
  response.writeHead(302, { location: '/files/it', 'x-file-digest': digest }).end()

/**
 * Downloads from a service that returns these responses to requests for the file, one after the other. The last
 * response is repeated.
 */
const download = async (files: Answer[], answerLink = link) => {
  const folder = await makeFolder()
  const [file, part] = [join(folder, 'file'), join(folder, 'part')]
  let asked = 0
  const { url } = await listen(
    createServer((request, response) => {
      if (request.url !== '/files/it') return answerLink(request, response)
      return files[Math.min(asked++, files.length - 1)]?.(request, response)
    }),
  )
  const { signal } = new AbortController()
  const remote = openRemote({ url, key: 'ear_any', signal })
  const wanted = { path: '/download', bytes: content.length, file, signal, onProgress: () => {}, pauseMs: 1 }
  return { folder, file, asked: () => asked, outcome: downloadFile(remote, part, wanted) }
}

const whole: Answer = (_request, response) => response.end(content)
const first: Answer = (_request, response) => response.writeHead(200).end(content.subarray(0, 4))
const nothing: Answer = (_request, response) => response.writeHead(206).end()
const expired: Answer = (_request, response) => response.writeHead(410).end('{"error":"gone"}')

it('requests another link when one has expired', async () => {
  const { file, outcome } = await download([expired, whole])
  await outcome
  expect(await readFile(file)).toEqual(content)
})

it.each<[string, Answer[]]>([
  ['nothing more', [first, nothing]],
  ['a page, with 200', [(_request, response) => response.end('a page')]],
  ['a busy storage', [(_request, response) => response.writeHead(503).end(page)]],
])('gives up if it only gets %s', async (_name, files) => {
  const { folder, asked, outcome } = await download(files)
  await expect(outcome).rejects.toThrow(/interrupted repeatedly|status 503/)
  expect(asked()).toBeLessThan(10)
  expect(await readdir(folder)).not.toContain('file')
})

it('discards a wrong file and writes nothing', async () => {
  const { folder, outcome } = await download([(_request, response) => response.end(page)])
  await expect(outcome).rejects.toThrow(Damaged)
  expect(await readdir(folder)).toEqual([])
})

it.each<[string, Answer, RegExp]>([
  [
    'without a digest',
    (_request, response) => response.writeHead(302, { location: '/files/it' }).end(),
    /did not respond/,
  ],
  ['that is a page', (_request, response) => response.end(page), /did not respond/],
  ['that is over', (_request, response) => response.writeHead(410).end('{"message":"It has expired."}'), /has expired/],
])('does not retry a link with %s', async (_name, answerLink, told) => {
  const { asked, outcome } = await download([whole], answerLink)
  await expect(outcome).rejects.toThrow(told)
  expect(asked()).toBe(0)
})

it.each<[string, Answer, RegExp]>([
  ['a page', (_request, response) => response.end(page), /did not respond like Earshot/],
  ['a list', (_request, response) => response.end('[]'), /did not respond like Earshot/],
  [
    'a redirect',
    (_request, response) => response.writeHead(301, { location: 'https://x.example/' }).end(),
    /redirects to "https:\/\/x\.example\/"/,
  ],
])('explains a URL that responds with %s', async (_name, answer, told) => {
  const { url } = await listen(createServer(answer))
  for (const args of [[], ['--id', id]]) {
    const { code, stderr } = await run(url, ...args)
    expect(code).toBe(1)
    expect(stderr).toMatch(told)
  }
})

it('retries while a proxy has no backend, but not if the service is disabled', async () => {
  const answers: Answer[] = [
    (_request, response) => response.writeHead(503).end(page),
    (_request, response) => response.writeHead(502, { 'retry-after': new Date().toUTCString() }).end(page),
    (_request, response) => response.end('{"data":[],"nextCursor":null}'),
    (_request, response) => response.writeHead(503).end('{"error":"temporarily unavailable","message":"It is off."}'),
  ]
  const { url } = await listen(createServer((request, response) => answers.shift()?.(request, response)))
  const remote = openRemote({ url, key: 'ear_any', signal: new AbortController().signal })
  expect(await remote.earshot.monitors.list().all()).toEqual([])
  await expect(remote.earshot.monitors.list().all()).rejects.toThrow('It is off.')
  expect(answers).toEqual([])
})

it('requests nothing if the file cannot be written, or the ID is invalid', async () => {
  const folder = await makeFolder()
  await writeFile(join(folder, 'file'), '')
  const { url, connections } = await listen(createServer((_request, response) => response.end(page)))
  for (const args of [
    ['--output', folder],
    ['--output', '/dev/null'],
    ['--output', join(folder, 'missing', 'file.csv')],
    ['--output', join(folder, 'file', 'file.csv')],
    ['--id', '../companies'],
    ['--id', ''],
  ]) {
    const { code } = await run(url, ...args)
    expect(code, args.join(' ')).toBe(2)
  }
  expect(connections()).toBe(0)
})
