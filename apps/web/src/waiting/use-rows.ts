import type { Action, ActionQuery } from '@countersign/client'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useDeferredValue, useEffect, useMemo } from 'react'
import { useStandsFor } from '../live/use-stands-for.ts'
import { useWaiting } from '../live/use-waiting.ts'
import { useServices } from '../services.tsx'
import { useSnoozes, useWakeWithChanges } from '../snooze/use-snoozes.ts'
import { useNow } from '../time/use-now.ts'
import { useReadOn } from '../ui/index.ts'
import { ORDERS, type Order } from './order.ts'
import { type Picking, usePicked } from './picked.ts'
import { matches, readSearch, type Search } from './search.ts'
import { isIn, type View, type WaitingView } from './views.ts'

/** The rows of a view as they come in. */
export type Rows = {
  rows: readonly Action[]
  /** False until the first of them are there. */
  isLoaded: boolean
  /** True while older ones are being read. */
  isReading: boolean
  /** Reads older ones where somebody has to ask for them; undefined when all are here. */
  readMore: (() => void) | undefined
  failure: unknown
  retry: () => void
}

/** So many are read by themselves. Nobody looks through more than that row by row. */
const MOST_ROWS = 10_000

/** The actions that need a person, in a view, a search and an order; kept current by the inbox's stream. */
function useWaitingRows(view: WaitingView, text: string, order: Order): Rows {
  const { inbox, me } = useServices()
  useOlderOfMine(view, text)
  // The counts of the page come first; the list follows in pieces of work of its own, which a press or a key interrupts.
  const state = useDeferredValue(useWaiting())
  const { items, loaded, more, failure } = state
  const standsFor = useStandsFor()
  const snoozes = useSnoozes()
  useWakeWithChanges(items)
  const nowMs = useNow()
  const isReading = more && items.length < MOST_ROWS
  // Each step brings a new state, which asks for the next one.
  useEffect(() => {
    if (state.loaded && state.more && state.items.length < MOST_ROWS && state.failure === null) void inbox.listMore()
  }, [inbox, state])
  const search = useMemo(() => readSearch(text), [text])
  // Only where the search asks for an age does the time change what is found.
  const atMs = search.olderMs === undefined ? 0 : nowMs
  const picking = useMemo((): Picking => {
    const [viewer, reader] = [
      { me, standsFor, snoozes },
      { id: me.id, nowMs: atMs },
    ]
    return {
      isIn: (action) => isIn(view, action, viewer) && matches(action, search, reader),
      compare: ORDERS[order].compare,
    }
  }, [view, search, order, me, standsFor, snoozes, atMs])
  const rows = usePicked(items, picking)
  // The same object until something changes: the list is not drawn again for each key that is pressed.
  return useMemo(
    () => ({
      rows,
      // Only that none are there cannot be said before all have been read.
      isLoaded: loaded || rows.length > 0,
      isReading: loaded && isReading,
      readMore: more && !isReading ? () => void inbox.listMore() : undefined,
      failure,
      retry: () => location.reload(),
    }),
    [inbox, rows, loaded, more, isReading, failure],
  )
}

/** Where more wait than are listed, what this person looks for may be among the older ones: the newest of it are asked for and kept current. */
function useOlderOfMine(view: WaitingView, text: string): void {
  const { client, inbox } = useServices()
  const { more } = useWaiting()
  useQuery({
    queryKey: ['waiting', 'older', view, text],
    queryFn: async ({ signal }) => {
      const state = view === 'unknown' ? 'outcome_unknown' : 'proposed'
      const question = {
        ...termsOf(readSearch(text), Date.now()),
        state,
        ...(view === 'mine' && { mine: 'true' as const }),
        ...(view === 'snoozed' && { snoozed: 'true' as const }),
      }
      const { items } = await client.actions.list({ ...question, limit: 200 }, { signal })
      inbox.include(items)
      return items.length
    },
    enabled: more && (view === 'mine' || view === 'snoozed' || text !== ''),
    refetchInterval: 2 * EVERY_MS,
  })
}

const PAGE_ROWS = 50
/** How many pages a search reads by itself while it finds nothing. */
const SEARCHED_PAGES = 5
const EVERY_MS = 15_000

/** Everything but what needs a person. */
const DECIDED = 'approved,executing,succeeded,failed,declined,expired,cancelled'

/** Returns the decided actions that needed approval, newest first. They are read from the server page by page. */
function useDecidedRows(isShown: boolean, text: string): Rows {
  const { client, me } = useServices()
  const search = useMemo(() => readSearch(text), [text])
  const found = useInfiniteQuery({
    queryKey: ['decided', text],
    queryFn: ({ pageParam, signal }) =>
      client.actions.list(
        { ...termsOf(search, Date.now()), state: DECIDED, verdict: 'ask', limit: PAGE_ROWS, ...(pageParam && { cursor: pageParam }) },
        { signal },
      ),
    initialPageParam: '',
    getNextPageParam: (page) => page.nextCursor ?? undefined,
    enabled: isShown,
    // Reading several pages again would ask for all of them.
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 0) > 1 ? false : EVERY_MS),
  })
  const { data, hasNextPage, isFetching, fetchNextPage } = found
  const rows = useMemo(() => {
    const reader = { id: me.id, nowMs: Date.now() }
    // The server takes the longest word of a search: the others are looked for here.
    return (data?.pages ?? []).flatMap(({ items }) => items).filter((action) => matches(action, search, reader))
  }, [data, search, me])
  const isSearching = hasNextPage && rows.length === 0 && !found.isError && (data?.pages.length ?? 0) < SEARCHED_PAGES
  useReadOn(found, isShown && isSearching)
  return {
    rows,
    isLoaded: data !== undefined,
    isReading: isSearching || found.isFetchingNextPage,
    readMore: hasNextPage && !isFetching ? () => void fetchNextPage() : undefined,
    failure: found.error,
    retry: () => void found.refetch(),
  }
}

/** Returns a query to the server that finds at least everything that the search finds. */
function termsOf({ words, tool, agent, risk, by, olderMs }: Search, nowMs: number): ActionQuery {
  // Other letters may have another length in lower case: the server compares them one by one, and would find less.
  const longest = words.filter((word) => /^[ -~]+$/.test(word)).reduce((found, word) => (word.length > found.length ? word : found), '')
  return {
    ...(longest !== '' && { q: longest }),
    ...(tool !== undefined && { toolText: tool }),
    ...(agent !== undefined && { agentText: agent }),
    ...(risk !== undefined && { risk }),
    ...(by !== undefined && by.toLowerCase() !== 'me' && { requester: by }),
    ...(olderMs !== undefined && { createdBefore: new Date(nowMs - olderMs).toISOString() }),
  }
}

/** The rows of whichever view is shown. */
export function useRows(view: View, text: string, order: Order): Rows {
  const waiting = useWaitingRows(view === 'decided' ? 'waiting' : view, text, order)
  const decided = useDecidedRows(view === 'decided', text)
  return view === 'decided' ? decided : waiting
}
