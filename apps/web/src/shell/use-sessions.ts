import type { Action, Session, SessionList } from '@countersign/client'
import { type InfiniteData, type Query, type QueryClient, useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { useServices } from '../services.tsx'
import { changedSpan } from '../steady/changed-span.ts'
import { useReadOn } from '../ui/index.ts'
import type { SessionFilter } from './use-session-filter.ts'

/** The query keys of all session lists begin with this. */
const KEY = ['sessions'] as const
const ALL = [...KEY, 'all'] as const
const PAGE_ROWS = 30
/** Notifies the other windows of this browser, because their event streams do not report title changes. */
const CHANNEL = 'countersign.sessions'
/** How many pages an empty search reads automatically. The server scans 2,000 sessions per page. */
const SEARCHED_PAGES = 5

/** Reads the matching sessions, newest first, page by page. */
export function useSessions({ q, status }: SessionFilter) {
  const { client } = useServices()
  const asked = { limit: PAGE_ROWS, ...(q && { q }), ...(status && { status }) }
  const found = useInfiniteQuery({
    queryKey: q || status ? [...KEY, { q, status }] : ALL,
    queryFn: ({ pageParam, signal }) => client.sessions.list({ ...asked, ...(pageParam ? { cursor: pageParam } : {}) }, { signal }),
    initialPageParam: '',
    getNextPageParam: (page) => page.nextCursor ?? undefined,
    // Sessions without approvals send no event when they change, so the list is polled.
    // Polling would repeat a search of several pages from the first page, so such a search is not polled.
    refetchInterval: ({ state }) => (q && (state.data?.pages.length ?? 0) > 1 ? false : 30_000),
  })
  const pages = found.data?.pages ?? []
  const isEmpty = pages.every(({ items }) => items.length === 0)
  const isSearching = found.hasNextPage && isEmpty && !found.isError && pages.length < SEARCHED_PAGES
  useReadOn(found, isSearching)
  return { ...found, isSearching }
}

/** Reloads the lists. One that is reading its next page is reloaded after it: nobody's press on *Load more* is lost to an approval that arrives. */
export async function refreshSessions(queries: QueryClient): Promise<void> {
  const readingOn = queries.getQueryCache().findAll({ queryKey: KEY, predicate: isReadingOn })
  const others = queries.invalidateQueries({ queryKey: KEY, predicate: (query) => !readingOn.includes(query) })
  await Promise.allSettled([others, ...readingOn.map(({ promise }) => promise)])
  await Promise.all(readingOn.map(({ queryKey }) => queries.invalidateQueries({ queryKey, exact: true }, { cancelRefetch: false })))
}

const isReadingOn = ({ state }: Query): boolean => state.fetchStatus === 'fetching' && state.fetchMeta?.fetchMore !== undefined

/** Notifies this browser's other windows that a session was renamed or deleted. */
export function tellOtherWindows(): void {
  const channel = new BroadcastChannel(CHANNEL)
  channel.postMessage('changed')
  channel.close()
}

/**
 * Reloads the list whenever the approval of a session is added, changes or is removed, because that changes the status of its session. Older approvals
 * that are listed page after page change nothing.
 * @param isLoaded False while the first approvals are being read.
 */
export function useSessionsFollowing(actions: readonly Action[], isLoaded: boolean): void {
  const queries = useQueryClient()
  const last = useRef<{ actions: readonly Action[]; newest: string }>({ actions: [], newest: '' })
  useEffect(() => {
    if (!isLoaded) return
    const { newest } = last.current
    const { before, now } = changedSpan(last.current.actions, actions, isUnmoved)
    last.current = { actions, newest: [newest, ...now.map(({ updatedAt }) => updatedAt)].sort().at(-1) ?? '' }
    const isOlder = before.length === 0 && now.every(({ updatedAt }) => updatedAt < newest)
    if (!isOlder && [...before, ...now].some(({ sessionId }) => sessionId !== null)) void refreshSessions(queries)
  }, [actions, isLoaded, queries])

  useEffect(() => {
    const channel = new BroadcastChannel(CHANNEL)
    channel.onmessage = () => void refreshSessions(queries)
    return () => channel.close()
  }, [queries])
}

const isUnmoved = (a: Action, b: Action): boolean => a === b || (a.id === b.id && a.state === b.state && a.overdue === b.overdue)

/** Updates the list with the current state of an open session. A session that is missing from the list causes a reload. */
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
