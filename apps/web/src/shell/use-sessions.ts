import type { Action, Session, SessionList } from '@countersign/client'
import { type InfiniteData, type QueryClient, useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useServices } from '../services.tsx'
import type { SessionFilter } from './use-session-filter.ts'

/** What the keys of all lists begin with. */
const KEY = ['sessions'] as const
const ALL = [...KEY, 'all'] as const
const PAGE_ROWS = 30

/** The sessions that fit, newest first, page by page. */
export function useSessions({ q, status }: SessionFilter) {
  const { client } = useServices()
  const asked = { limit: PAGE_ROWS, ...(q && { q }), ...(status && { status }) }
  return useInfiniteQuery({
    queryKey: q || status ? [...KEY, { q, status }] : ALL,
    queryFn: ({ pageParam, signal }) => client.sessions.list({ ...asked, ...(pageParam ? { cursor: pageParam } : {}) }, { signal }),
    initialPageParam: '',
    getNextPageParam: (page) => page.nextCursor ?? undefined,
    // Sessions without approvals tell nobody that they moved on.
    refetchInterval: 30_000,
  })
}

/** Asks for the lists again, soon. */
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
