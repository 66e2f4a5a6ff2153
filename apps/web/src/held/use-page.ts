import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { ListOf } from '../read-pages.ts'

/** Reads one page of a list at a time, with functions for the previous and next page. A refetch reads only the visible page. */
export function usePage<Item>(key: readonly unknown[], read: (cursor: string | undefined, signal: AbortSignal) => Promise<ListOf<Item>>) {
  /** The cursors of the pages up to the visible one. */
  const [cursors, setCursors] = useState<readonly (string | undefined)[]>([undefined])
  const cursor = cursors.at(-1)
  const query = useQuery({
    queryKey: [...key, cursor],
    queryFn: ({ signal }) => read(cursor, signal),
    // The current page stays until the next one has loaded.
    placeholderData: keepPreviousData,
  })
  const next = query.data?.nextCursor
  /** The button stays enabled while the next page loads, because a disabled button loses the focus. */
  function goOn(): void {
    if (next && !query.isPlaceholderData) setCursors([...cursors, next])
  }
  return {
    query,
    /** The page number, from 1. */
    number: cursors.length,
    onNext: next ? goOn : undefined,
    onPrevious: cursors.length > 1 ? () => setCursors(cursors.slice(0, -1)) : undefined,
  }
}
