import type { Action, Client } from '@countersign/client'
import { useSyncExternalStore } from 'react'

/** Actions that this person approved here and that have not started yet; or what became of taking them back. */
export type Starts = {
  /** In the order of their approvals. */
  actions: readonly Action[]
  /** When the first of them starts, epoch ms by this machine's clock. */
  endsAtMs: number
  isUndoing: boolean
  /** The result of the last undo, for a few seconds. */
  said: string
}

const NOTHING: Starts = { actions: [], endsAtMs: 0, isUndoing: false, said: '' }
const SAID_MS = 6_000
/** Requests under way at a time. */
const WORKERS = 8

let starts = NOTHING
/** When the approvals can no longer be taken back. */
let ending: ReturnType<typeof setTimeout> | undefined
/** When the result of the last undo is no news any more. */
let silence: ReturnType<typeof setTimeout> | undefined
let decider: string | undefined
const listeners = new Set<() => void>()

function change(next: Starts): void {
  starts = next
  for (const each of listeners) each()
}

function stopTimers(): void {
  clearTimeout(ending)
  clearTimeout(silence)
}

function show(next: Starts, clearAfterMs?: number): void {
  stopTimers()
  if (clearAfterMs !== undefined) ending = setTimeout(() => show(NOTHING), clearAfterMs)
  if (next.said !== '') silence = setTimeout(() => change({ ...starts, said: '' }), SAID_MS)
  change(next)
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export const startsNow = (): Starts => starts
export const useStarts = (): Starts => useSyncExternalStore(subscribe, startsNow)

/** Forgets the approvals of everybody else: several people may sign in on one open page in turn. */
export function beginStartsOf(personId: string): void {
  if (decider !== personId) {
    // No listener is called: this runs while the page is drawn for the next person, and the bar with it.
    starts = NOTHING
    stopTimers()
  }
  decider = personId
}

/**
 * Notes the actions that were approved just now, so that the approval can be taken back from every page. Actions that start at once are
 * left out.
 */
export function noteStarts(decided: readonly Action[]): void {
  const waiting = decided.filter(({ state, startsAt }) => state === 'approved' && startsAt !== null)
  if (waiting.length === 0) return
  // The clocks of two machines differ, the length of the grace period does not.
  const leftMs = Math.min(...waiting.map(({ startsAt, updatedAt }) => Date.parse(startsAt ?? '') - Date.parse(updatedAt)))
  show({ actions: waiting, endsAtMs: Date.now() + leftMs, isUndoing: false, said: '' }, leftMs)
}

/** Takes back everything that {@link noteStarts} noted last, as far as nothing of it has started. */
export async function undoStarts(client: Client): Promise<void> {
  const { actions, isUndoing } = starts
  if (actions.length === 0 || isUndoing) return
  show({ ...starts, isUndoing: true })
  const left = actions.values()
  let undone = 0
  const worker = async () => {
    for (const { id } of left) {
      const isUndone = await client.actions.undo(id).then(
        () => true,
        () => false,
      )
      if (isUndone) undone++
    }
  }
  await Promise.all(Array.from({ length: WORKERS }, worker))
  const failed = actions.length - undone
  const words = `${undone} taken back`
  const said = failed === 0 ? words : `${words}, ${failed} had started or could not be reached`
  // Approved meanwhile: those can still be taken back.
  if (starts.actions !== actions && starts.actions.length > 0) return show({ ...starts, said }, starts.endsAtMs - Date.now())
  show({ ...NOTHING, said })
}
