import type { Action, Snooze } from '@countersign/client'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { readPages } from '../read-pages.ts'
import { useServices } from '../services.tsx'
import { useNow } from '../time/use-now.ts'

/** When each action that this person snoozed returns, as ISO 8601. */
export type Snoozes = ReadonlyMap<string, string>

export const SNOOZES = ['snoozes']
/** Snoozes that were set in another browser are noticed after this long at the latest. */
const EVERY_MS = 60_000
const MOST_PAGES = 10
const NONE: readonly Snooze[] = []

/** Returns what this person snoozed, by the clock: an action returns by itself. */
export function useSnoozes(): Snoozes {
  const { client } = useServices()
  const nowMs = useNow()
  const { data = NONE } = useQuery({
    queryKey: SNOOZES,
    queryFn: ({ signal }) => readPages((page) => client.actions.snoozes(page, { signal }), MOST_PAGES),
    staleTime: EVERY_MS,
    refetchInterval: EVERY_MS,
  })
  // The time moves every 15 s, and the map changes only when an action returns.
  const running = data.filter(({ until }) => Date.parse(until) > nowMs)
  const key = running.map(({ actionId, until }) => `${actionId} ${until}`).join()
  if (key !== last.key) last = { key, snoozes: new Map(running.map(({ actionId, until }) => [actionId, until])) }
  return last.snoozes
}

/** One map for all parts of the page: what is computed with it is computed once. The key stands for the list. */
let last: { key: string; snoozes: Snoozes } = { key: '', snoozes: new Map() }

/** Asks the server again when a snoozed action changed: a new revision or an escalation has ended its snooze. */
export function useWakeWithChanges(items: readonly Action[]): void {
  const snoozes = useSnoozes()
  const queries = useQueryClient()
  // Without snoozes there is nothing to watch.
  const watched = snoozes.size === 0 ? [] : items
  const changes = watched
    .filter(({ id }) => snoozes.has(id))
    .map(({ id, revision, state, requires }) => `${id} ${revision} ${state} ${requires.escalation?.isDone}`)
    .join()
  useEffect(() => void (changes !== '' && queries.invalidateQueries({ queryKey: SNOOZES })), [changes, queries])
}
