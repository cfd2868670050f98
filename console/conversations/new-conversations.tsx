import { useEffect, useState } from 'react'
import { queryClient } from '../api/queries.ts'
import { plural } from '../lib/format.ts'
import { isAbout, onEvent } from '../live/live.ts'
import { Button } from '../ui/button.tsx'
import styles from './conversations.module.css'
import { conversationsOptions, type Found, type Listing, newestConversations, pageSize } from './queries.ts'

/** The minimum time between updates of the list, because conversations can arrive many times a second. */
const everyMs = 2_000

type Loaded = { pages: Awaited<ReturnType<typeof newestConversations>>[]; pageParams: string[] }

const cached = (listing: Listing) => queryClient.getQueryData<Loaded>(conversationsOptions(listing).queryKey)

/** Returns the conversations that are not in the list yet but belong above its end. */
const missingFrom = (loaded: Loaded, newest: Found[]): Found[] => {
  const rows = loaded.pages.flatMap(({ data }) => data)
  const known = new Set(rows.map(({ id }) => id))
  const last = rows.at(-1)
  const isComplete = loaded.pages.at(-1)?.nextCursor === null
  return newest.filter(({ id, startedAt }) => !known.has(id) && (isComplete || !last || startedAt >= last.startedAt))
}

/** Updates the conversations that are already in the list, without changing their order. */
const updateRows = (listing: Listing, newest: Found[]): void => {
  const byId = new Map(newest.map((row) => [row.id, row]))
  queryClient.setQueryData<Loaded>(
    conversationsOptions(listing).queryKey,
    (loaded) =>
      loaded && {
        ...loaded,
        pages: loaded.pages.map((page) => ({ ...page, data: page.data.map((row) => byId.get(row.id) ?? row) })),
      },
  )
}

const removeRow = (listing: Listing, id: string): void => {
  queryClient.setQueryData<Loaded>(
    conversationsOptions(listing).queryKey,
    (loaded) =>
      loaded && {
        ...loaded,
        pages: loaded.pages.map((page) => ({ ...page, data: page.data.filter((row) => row.id !== id) })),
      },
  )
}

type News = { first: Loaded['pages'][number]; count: number }

/** Follows the conversations that match a filter. If the list is empty, the first ones appear immediately. */
const useNews = (listing: Listing) => {
  const [news, setNews] = useState<News>()
  const key = JSON.stringify(listing)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the listing is a new object in each render
  useEffect(() => {
    setNews(undefined)
    const leaving = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const look = async (): Promise<void> => {
      const first = await newestConversations(listing, leaving.signal).catch(() => undefined)
      const loaded = cached(listing)
      timer = undefined
      if (!first || !loaded || leaving.signal.aborted) return
      updateRows(listing, first.data)
      const { length: count } = missingFrom(loaded, first.data)
      if (loaded.pages.every(({ data }) => data.length === 0)) showNews(listing, first)
      else setNews(count > 0 ? { first, count } : undefined)
    }
    const lookLater = () => {
      timer ??= setTimeout(() => void look(), everyMs * (0.5 + Math.random() / 2))
    }
    const stop = onEvent((event) => {
      if (!isAbout(event, 'conversations')) return
      if (event.kind === 'deleted' && event.id !== undefined) removeRow(listing, event.id)
      // While the page is hidden, new conversations are only noted.
      if (document.hidden) return
      lookLater()
    })
    const onVisible = () => document.hidden || lookLater()
    document.addEventListener('visibilitychange', onVisible)
    return () => {
      stop()
      leaving.abort()
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', onVisible)
    }
  }, [key])
  return { news, clear: () => setNews(undefined) }
}

const showNews = (listing: Listing, first: News['first']): void => {
  queryClient.setQueryData<Loaded>(conversationsOptions(listing).queryKey, { pages: [first], pageParams: [''] })
}

/** Offers conversations that arrived since the list was loaded, so that it doesn't move under the pointer. */
export const NewConversations = ({ listing }: { listing: Listing }) => {
  const { news, clear } = useNews(listing)
  const show = () => {
    if (news) showNews(listing, news.first)
    clear()
  }
  return (
    <div role="status" className={styles.news}>
      {news && (
        <Button small onClick={show}>
          {news.count < pageSize ? plural(news.count, 'new conversation') : `${pageSize}+ new conversations`}
        </Button>
      )}
    </div>
  )
}
