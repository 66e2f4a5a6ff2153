import { useInfiniteQuery } from '@tanstack/react-query'

type ListOf<Item> = { items: Item[]; nextCursor: string | null }

/** Reads a list page by page. `data` holds all entries read so far. */
export const useList = <Item>(key: readonly unknown[], read: (cursor: string | undefined, signal: AbortSignal) => Promise<ListOf<Item>>) =>
  useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam, signal }) => read(pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    select: ({ pages }) => pages.flatMap(({ items }) => items),
  })
