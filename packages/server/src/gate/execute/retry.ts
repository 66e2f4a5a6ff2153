import { type Tool, ToolError } from '@countersign/core'
import { checkpoint } from '@countersign/toolkit/internal'
import type { Clock } from '../../clock.ts'
import type { Outbox, Tx } from '../../store/index.ts'
import type { GateDeps } from '../gate.ts'

/** Waits `delayMs`. False when the process stops first. */
export async function pause({ clock, stopped }: Pick<GateDeps, 'clock' | 'stopped'>, delayMs: number): Promise<boolean> {
  if (stopped.aborted) return false
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const takeBack = clock.after(delayMs, () => resolve(true))
  const onStop = () => resolve(false)
  stopped.addEventListener('abort', onStop, { once: true })
  try {
    return await promise
  } finally {
    takeBack()
    stopped.removeEventListener('abort', onStop)
  }
}

/** Between tries to store; from the last on it stays. */
const STORE_WAITS_MS = [100, 250, 500, 1_000, 2_000, 5_000]

/**
 * Stores facts that cannot be obtained again: the answer of a target, the start of an approved action. While the database is away or full,
 * it tries again. Returns undefined when the process stops first; the next process then continues from the stored row.
 * @param work Gets true when it runs again: its write may already be stored, if only the answer of the commit was lost.
 */
export const retryUntilStored = <T>(
  deps: GateDeps,
  actionId: string,
  work: (outbox: Outbox, isRepeat: boolean) => Tx<T>,
): Promise<T | undefined> => untilItWorks(deps, actionId, (isRepeat) => deps.store.transact((outbox) => work(outbox, isRepeat)))

/** Asks the database again until it answers. Undefined when the process stops first. */
export async function untilItWorks<T>(deps: GateDeps, actionId: string, ask: (isRepeat: boolean) => Promise<T>): Promise<T | undefined> {
  for (let failures = 0; ; failures++) {
    try {
      return await ask(failures > 0)
    } catch (error) {
      if (!(await pauseAfter(deps, actionId, failures, error))) return undefined
    }
  }
}

/** Logs why something could not be stored and waits, longer after each failure. False when the process stops first. */
export async function pauseAfter(deps: GateDeps, actionId: string, failures: number, error: unknown): Promise<boolean> {
  const waitMs = STORE_WAITS_MS[failures] ?? STORE_WAITS_MS.at(-1) ?? 0
  deps.log.error({ actionId, waitMs, error }, 'action.store_failed')
  checkpoint('store.refused')
  return await pause(deps, waitMs)
}

/**
 * Runs a tool's code for at most its timeout. The code gets a signal; one that does not heed it is not waited for, or its action would
 * be executing for good.
 * @throws ToolError `ambiguous` when it is late.
 */
export async function withinTimeout<T>(
  clock: Clock,
  { name, timeoutMs }: Pick<Tool, 'name' | 'timeoutMs'>,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = `${name} did not answer within ${timeoutMs / 1000} s`
  const controller = new AbortController()
  const { promise: given, reject: giveUp } = Promise.withResolvers<never>()
  let takeBack = clock.after(timeoutMs, () => {
    controller.abort(new DOMException(late, 'TimeoutError'))
    // One turn of the event loop later, so that a tool which heeds the signal can report a better outcome.
    takeBack = clock.after(0, () => giveUp(new ToolError('ambiguous', late)))
  })
  try {
    return await Promise.race([work(controller.signal), given])
  } catch (error) {
    // `fetch`, for one, rejects with the reason of its signal.
    if (controller.signal.aborted && error === controller.signal.reason) throw new ToolError('ambiguous', late)
    throw error
  } finally {
    takeBack()
  }
}
