import { useEffect } from 'react'

type Found = {
  /** The pages read so far; a new object after each page. */
  data: unknown
  hasNextPage: boolean
  isFetching: boolean
  isError: boolean
  fetchNextPage: (options: { cancelRefetch: boolean }) => unknown
}

/** Reads one page after another for as long as more are wanted. A failure ends it. */
export function useReadOn({ data, hasNextPage, isFetching, isError, fetchNextPage }: Found, isWanted: boolean): void {
  // In the background, where timers come late, a page may be here before it was drawn that it is read: so each page counts.
  // biome-ignore lint/correctness/useExhaustiveDependencies: a page is the event, not an input
  useEffect(() => {
    // A reload that has begun meanwhile is not cancelled: the next page follows it.
    if (isWanted && hasNextPage && !isFetching && !isError) void fetchNextPage({ cancelRefetch: false })
  }, [data, isWanted, hasNextPage, isFetching, isError, fetchNextPage])
}
