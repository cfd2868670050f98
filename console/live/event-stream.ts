import { api } from '../api/client.ts'

export type LiveEvent = { kind: 'created' | 'updated' | 'deleted' | 'resync'; resource: string; id?: string }

type Options = {
  /** The event after which the stream continues. */
  lastEventId: string | undefined
  signal: AbortSignal
  onOpen: () => void
  onEvent: (event: LiveEvent) => void
  /** Called with the ID of the latest event, even if this member may not see the event. */
  onPosition: (id: string) => void
  onRetry: (ms: number) => void
}

/** The stream counts as lost if nothing arrives for this long. The server sends data at least every 20 seconds. */
const silenceMs = 45_000

const readBlock = (block: string, { onEvent, onPosition, onRetry }: Options): void => {
  for (const line of block.split('\n')) {
    const [, name, value = ''] = /^(\w+): (.*)$/.exec(line) ?? []
    if (name === 'data') onEvent(JSON.parse(value))
    else if (name === 'retry') onRetry(Number(value))
    else if (name === 'id') onPosition(value)
  }
}

/** Reads events until the stream ends. Throws if the stream can't be opened or is lost. */
export const readEvents = async (options: Options): Promise<void> => {
  const silent = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const expectMore = () => {
    clearTimeout(timer)
    timer = setTimeout(() => silent.abort(), silenceMs)
  }
  expectMore()
  try {
    const { data } = await api.GET('/v1/stream', {
      parseAs: 'stream',
      headers: options.lastEventId === undefined ? {} : { 'last-event-id': options.lastEventId },
      signal: AbortSignal.any([options.signal, silent.signal]),
    })
    if (!data) return
    options.onOpen()
    const reader = data.pipeThrough(new TextDecoderStream()).getReader()
    let rest = ''
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      expectMore()
      const blocks = (rest + read.value).split('\n\n')
      rest = blocks.pop() ?? ''
      for (const block of blocks) readBlock(block, options)
    }
  } finally {
    clearTimeout(timer)
  }
}
