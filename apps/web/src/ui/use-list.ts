import { useInfiniteQuery } from '@tanstack/react-query'
import type { ListOf } from '../read-pages.ts'

/** Reads a list page by page. `data` holds all entries read so far. */
export const useList = <Item>(
  key: readonly unknown[],
  read: (cursor: string | undefined, signal: AbortSignal) => Promise<ListOf<Item>>,
  /** How often it is read again, in ms, with so many pages; default: never. */
  againMs: (pages: number) => number | false = () => false,
) =>
  useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam, signal }) => read(pageParam, signal),
    initialPageParam: undefined as string | undefined,
    refetchInterval: ({ state }) => againMs(state.data?.pages.length ?? 0),
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    select: ({ pages }) => pages.flatMap(({ items }) => items),
  })
