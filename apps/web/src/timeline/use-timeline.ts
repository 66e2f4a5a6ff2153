import type { Timeline, TimelineEntry } from '@countersign/client'
import { type InfiniteData, useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo } from 'react'
import { useServices } from '../services.tsx'
import { useReadOn } from '../ui/index.ts'
import { joined, withNewest } from './rows.ts'

type Pages = InfiniteData<Timeline>

const PAGE_ENTRIES = 200
const NEWEST_ENTRIES = 50
const LIVE_MS = 2_000

/** All entries of a session's timeline, the oldest first. While its agent is at work, or waits for people, the newest are read again. */
export function useTimeline(sessionId: string) {
  const { client } = useServices()
  const queries = useQueryClient()
  const session = useQuery({
    queryKey: ['timeline', sessionId, 'session'],
    queryFn: ({ signal }) => client.sessions.get(sessionId, { signal }),
    refetchInterval: LIVE_MS * 2,
  })
  const isLive = session.data?.status === 'active' || session.data?.status === 'waiting_approval'
  const all = useInfiniteQuery({
    queryKey: ['timeline', sessionId],
    queryFn: ({ pageParam, signal }) =>
      client.sessions.timeline(sessionId, { limit: PAGE_ENTRIES, ...(pageParam !== '' && { cursor: pageParam }) }, { signal }),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  })
  const newest = useQuery({
    // Every change of the session is read at once, its end included.
    queryKey: ['timeline', sessionId, 'newest', session.data?.updatedAt],
    queryFn: async ({ signal }) => {
      const held = queries.getQueryData<Pages>(['timeline', sessionId])?.pages[0]?.items[0]
      const items: TimelineEntry[] = []
      let cursor: string | null = ''
      do {
        const page: Timeline = await client.sessions.timeline(
          sessionId,
          { limit: NEWEST_ENTRIES, ...(cursor !== '' && { cursor }) },
          { signal },
        )
        items.push(...page.items)
        cursor = page.nextCursor
        // More may have come since than one page holds.
      } while (held !== undefined && cursor !== null && (items.at(-1)?.message.seq ?? 0) > held.message.seq)
      return items
    },
    placeholderData: (before) => before,
    refetchInterval: isLive ? LIVE_MS : false,
  })
  const { data, hasNextPage } = all
  useReadOn(all, true)
  // They are kept with the others, because further entries take their places among the newest.
  useEffect(() => {
    const items = newest.data
    if (items)
      queries.setQueryData<Pages>(['timeline', sessionId], (before) => before && { ...before, pages: withNewest(before.pages, items) })
  }, [queries, sessionId, newest.data])
  const entries = useMemo(() => joined([...(data?.pages.map(({ items }) => items) ?? []), newest.data ?? []]), [data, newest.data])
  return {
    session: session.data,
    entries,
    isLive,
    isReading: hasNextPage || all.isPending,
    failure: session.error ?? all.error,
    retry: all.refetch,
  }
}
