import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useServices } from '../services.tsx'
import { useReadOn } from '../ui/index.ts'
import { joined } from './rows.ts'

const PAGE_ENTRIES = 200
const NEWEST_ENTRIES = 50
const LIVE_MS = 2_000

/** All entries of a session's timeline, the oldest first. While its agent is at work, or waits for people, the newest are read again. */
export function useTimeline(sessionId: string) {
  const { client } = useServices()
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
    queryFn: ({ signal }) => client.sessions.timeline(sessionId, { limit: NEWEST_ENTRIES }, { signal }),
    placeholderData: (before) => before,
    refetchInterval: isLive ? LIVE_MS : false,
  })
  const { data, hasNextPage } = all
  useReadOn(all, true)
  const entries = useMemo(() => joined([...(data?.pages.map(({ items }) => items) ?? []), newest.data?.items ?? []]), [data, newest.data])
  return {
    session: session.data,
    entries,
    isLive,
    isReading: hasNextPage || all.isPending,
    failure: session.error ?? all.error,
    retry: all.refetch,
  }
}
