import type { Action, Session, SessionList } from '@countersign/client'
import { type InfiniteData, type QueryClient, useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useServices } from '../services.tsx'

const KEY = ['sessions'] as const
const PAGE_ROWS = 30

/** The sessions, newest first, page by page. */
export function useSessions() {
  const { client } = useServices()
  return useInfiniteQuery({
    queryKey: KEY,
    queryFn: ({ pageParam, signal }) => client.sessions.list({ limit: PAGE_ROWS, ...(pageParam ? { cursor: pageParam } : {}) }, { signal }),
    initialPageParam: '',
    getNextPageParam: (page) => page.nextCursor ?? undefined,
    // Sessions without approvals tell nobody that they moved on.
    refetchInterval: 30_000,
  })
}

/** Asks for the list again, soon. */
export const refreshSessions = (queries: QueryClient) => queries.invalidateQueries({ queryKey: KEY })

/** Asks for the list again whenever an approval comes, moves or goes: its session has another status then. */
export function useSessionsFollowing(actions: readonly Action[]): void {
  const queries = useQueryClient()
  const moved = actions.map(({ id, state, overdue }) => `${id} ${state} ${overdue}`).join()
  // biome-ignore lint/correctness/useExhaustiveDependencies: what moved is the event, not an input
  useEffect(() => {
    void refreshSessions(queries)
  }, [moved, queries])
}

/** Puts what an open session just said about itself into the list; one that the list lacks makes it ask again. */
export function noteSession(queries: QueryClient, session: Session): void {
  const data = queries.getQueryData<InfiniteData<SessionList>>(KEY)
  if (!data) return
  if (!data.pages.some((page) => page.items.some((each) => each.id === session.id))) {
    void refreshSessions(queries)
    return
  }
  queries.setQueryData<InfiniteData<SessionList>>(KEY, {
    ...data,
    pages: data.pages.map((page) => ({ ...page, items: page.items.map((each) => (each.id === session.id ? session : each)) })),
  })
}
