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

/** A session that has ended leads to the page of signing in, and from there back to where it ended. */
const onError = (error: unknown): void => {
  if (!(error instanceof Fault) || error.status !== 401 || /^\/(sign-in|welcome|outside)/.test(location.pathname))
    return
  location.assign(`/sign-in?to=${encodeURIComponent(location.pathname + location.search)}`)
}

// A button must know of its own press before the next one, or a double click sends twice.
notifyManager.setScheduler(queueMicrotask)

export const queryClient = new QueryClient({
  // Who is signed in is asked by the router, which knows where to go.
  queryCache: new QueryCache({ onError: (error, { queryKey }) => queryKey[0] !== 'me' && onError(error) }),
  mutationCache: new MutationCache({ onError }),
  defaultOptions: {
    // The service may be on this machine or in this house: that the browser knows no network says nothing of it.
    queries: {
      networkMode: 'always',
      staleTime: 10_000,
      retry: (failures, error) => !isRefusal(error) && failures < 2,
    },
    mutations: { networkMode: 'always', retry: false },
  },
})

type Page<T> = { data: T[]; nextCursor: string | null }

/** A list that is read page by page. `ask` gets the cursor of the page that it should read. */
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

/** The rows so far, and the way to more. */
export const useList = <T>(options: ReturnType<typeof listOptions<T>>) => {
  const { data, error, isPending, isFetchingNextPage, hasNextPage, fetchNextPage, refetch } = useInfiniteQuery(options)
  return {
    rows: data,
    error,
    isPending,
    isFetchingMore: isFetchingNextPage,
    more: hasNextPage ? () => void (isFetchingNextPage || fetchNextPage()) : undefined,
    retry: () => void refetch(),
  }
}
