import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'

type ListOf<Item> = { items: Item[]; nextCursor: string | null }

/** One page of a list of the server at a time, and the way to the pages beside it. Reading again reads the page in sight alone. */
export function usePage<Item>(key: readonly unknown[], read: (cursor: string | undefined, signal: AbortSignal) => Promise<ListOf<Item>>) {
  /** Where the pages up to the one in sight begin. */
  const [cursors, setCursors] = useState<readonly (string | undefined)[]>([undefined])
  const cursor = cursors.at(-1)
  const query = useQuery({
    queryKey: [...key, cursor],
    queryFn: ({ signal }) => read(cursor, signal),
    // Nothing moves before the next page is there.
    placeholderData: keepPreviousData,
  })
  const next = query.data?.nextCursor
  /** The button stays enabled while the next page is read: one that is disabled loses the focus. */
  function goOn(): void {
    if (next && !query.isPlaceholderData) setCursors([...cursors, next])
  }
  return {
    query,
    /** From 1. */
    number: cursors.length,
    onNext: next ? goOn : undefined,
    onPrevious: cursors.length > 1 ? () => setCursors(cursors.slice(0, -1)) : undefined,
  }
}
