import {
  infiniteQueryOptions,
  MutationCache,
  notifyManager,
  QueryCache,
  QueryClient,
  type QueryKey,
  useInfiniteQuery,
} from '@tanstack/react-query'
import { Fault, isRefusal } from './fault.ts'

/** Opens the sign-in page if the session has ended. Signing in leads back to this page. */
const onError = (error: unknown): void => {
  if (!(error instanceof Fault) || error.status !== 401 || /^\/(sign-in|welcome|outside)/.test(location.pathname))
    return
  location.assign(`/sign-in?to=${encodeURIComponent(location.pathname + location.search)}`)
}

// A button must become busy before the next click. Otherwise, a double click sends two requests.
notifyManager.setScheduler(queueMicrotask)

export const queryClient = new QueryClient({
  // The router loads `me`, and redirects if that fails.
  queryCache: new QueryCache({ onError: (error, { queryKey }) => queryKey[0] !== 'me' && onError(error) }),
  mutationCache: new MutationCache({ onError }),
  defaultOptions: {
    // The server may be on this machine or on the local network, so being offline doesn't matter.
    queries: {
      networkMode: 'always',
      staleTime: 10_000,
      retry: (failures, error) => !isRefusal(error) && failures < 2,
    },
    mutations: { networkMode: 'always', retry: false },
  },
})

type Page<T> = { data: T[]; nextCursor: string | null }

/** Returns the query for a paged list. `ask` receives the cursor of the page to load. */
export const listOptions = <T>(
  queryKey: QueryKey,
  ask: (cursor: { cursor?: string }, signal: AbortSignal) => Promise<Page<T>>,
) =>
  infiniteQueryOptions({
    queryKey,
    queryFn: ({ pageParam, signal }) => ask(pageParam === '' ? {} : { cursor: pageParam }, signal),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }: Page<T>) => nextCursor,
    select: ({ pages }) => pages.flatMap(({ data }) => data),
  })

/** Returns the loaded rows and a function that loads more. */
export const useList = <T>(options: ReturnType<typeof listOptions<T>>) => {
  const list = useInfiniteQuery(options)
  const { data, error, isPending, isFetchingNextPage, isRefetching, hasNextPage, fetchNextPage, refetch } = list
  /** Loads more rows. If the list is already being requested again, waits for that instead of cancelling it. */
  const loadMore = async (): Promise<void> => {
    if (isFetchingNextPage) return
    if (isRefetching) await refetch({ cancelRefetch: false })
    await fetchNextPage()
  }
  return {
    rows: data,
    error,
    isPending,
    isFetchingMore: isFetchingNextPage,
    more: hasNextPage ? () => void loadMore() : undefined,
    retry: () => void refetch(),
  }
}
