import type { Action, Session, SessionList } from '@countersign/client'
import { type InfiniteData, type QueryClient, useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useServices } from '../services.tsx'
import type { SessionFilter } from './use-session-filter.ts'

/** The query keys of all session lists begin with this. */
const KEY = ['sessions'] as const
const ALL = [...KEY, 'all'] as const
const PAGE_ROWS = 30
/** The other windows of this browser hear of it here: the streams that they follow tell nothing of a title. */
const CHANNEL = 'countersign.sessions'
/** How many pages a search that finds nothing goes through by itself. The server looks through 2,000 sessions for each. */
const SEARCHED_PAGES = 5

/** The sessions that fit, newest first, page by page. */
export function useSessions({ q, status }: SessionFilter) {
  const { client } = useServices()
  const asked = { limit: PAGE_ROWS, ...(q && { q }), ...(status && { status }) }
  const found = useInfiniteQuery({
    queryKey: q || status ? [...KEY, { q, status }] : ALL,
    queryFn: ({ pageParam, signal }) => client.sessions.list({ ...asked, ...(pageParam ? { cursor: pageParam } : {}) }, { signal }),
    initialPageParam: '',
    getNextPageParam: (page) => page.nextCursor ?? undefined,
    // Sessions without approvals tell nobody that they moved on.
    // What was found after several pages would be searched for anew from the first.
    refetchInterval: ({ state }) => (q && (state.data?.pages.length ?? 0) > 1 ? false : 30_000),
  })
  const { data, hasNextPage, isFetching, isError, fetchNextPage } = found
  const pages = data?.pages ?? []
  const isEmpty = pages.every(({ items }) => items.length === 0)
  const isSearching = hasNextPage && isEmpty && !isError && pages.length < SEARCHED_PAGES
  useEffect(() => {
    if (isSearching && !isFetching) void fetchNextPage()
  }, [isSearching, isFetching, fetchNextPage])
  return { ...found, isSearching }
}

/** Asks for the lists again, soon. */
export const refreshSessions = (queries: QueryClient) => queries.invalidateQueries({ queryKey: KEY })

/** Says in this browser's other windows that a session has another title, or is no more. */
export function tellOtherWindows(): void {
  const channel = new BroadcastChannel(CHANNEL)
  channel.postMessage('changed')
  channel.close()
}

/** Asks for the list again whenever an approval comes, moves or goes: its session has another status then. */
export function useSessionsFollowing(actions: readonly Action[]): void {
  const queries = useQueryClient()
  const moved = actions.map(({ id, state, overdue }) => `${id} ${state} ${overdue}`).join()
  // biome-ignore lint/correctness/useExhaustiveDependencies: what moved is the event, not an input
  useEffect(() => {
    void refreshSessions(queries)
  }, [moved, queries])

  useEffect(() => {
    const channel = new BroadcastChannel(CHANNEL)
    channel.onmessage = () => void refreshSessions(queries)
    return () => channel.close()
  }, [queries])
}

/** Puts what an open session just said about itself into the list; one that the list lacks makes it ask again. */
export function noteSession(queries: QueryClient, session: Session): void {
  const all = queries.getQueryData<InfiniteData<SessionList>>(ALL)
  if (all && !all.pages.some((page) => page.items.some((each) => each.id === session.id))) {
    void refreshSessions(queries)
    return
  }
  queries.setQueriesData<InfiniteData<SessionList>>(
    { queryKey: KEY },
    (data) =>
      data && {
        ...data,
        pages: data.pages.map((page) => ({ ...page, items: page.items.map((each) => (each.id === session.id ? session : each)) })),
      },
  )
}
