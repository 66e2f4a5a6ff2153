import { isApiError, isUnexplained } from './api-error.ts'
import type { ConnectionState } from './events.ts'

/** Runs `run` once after `delayMs`; the answer cancels it. */
export type Schedule = (run: () => void, delayMs: number) => () => void

export type RetryOptions = {
  signal?: AbortSignal
  onState?: (state: ConnectionState) => void
  /** Default `setTimeout`. */
  schedule?: Schedule
  /** From 0 up to 1; default `Math.random`. */
  random?: () => number
}

/** A timer that should run for longer runs at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1

const FIRST_RETRY_MS = 1_000
const LONGEST_RETRY_MS = 30_000

/**
 * True for a refusal that asking again cannot help: every 4xx but 408 and 429.
 * @param isKnown True where the server itself has named what is asked about. Then a 404 that it did not explain says nothing: some proxies
 * answer so while the server behind them is replaced.
 */
export const isFinal = (error: unknown, isKnown?: boolean): boolean =>
  isApiError(error) &&
  error.status >= 400 &&
  error.status < 500 &&
  error.status !== 408 &&
  error.status !== 429 &&
  !(isKnown && error.status === 404 && isUnexplained(error))

/** Waits before the next try, 1 s at first and 30 s at most, and reports the wait; `failures` counts the failures in a row before this one. */
export async function waitToRetry(failures: number, options: RetryOptions): Promise<void> {
  const { signal, onState = () => {}, schedule = scheduleTimeout, random = Math.random } = options
  // Half is fixed and half random, so that many clients that were cut at once do not come back at once.
  const ceilingMs = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** (failures + 1))
  const retryInMs = Math.round(ceilingMs / 2 + (random() * ceilingMs) / 2)
  const offline = globalThis.navigator?.onLine === false
  onState(offline ? { kind: 'offline' } : { kind: 'reconnecting', retryInMs })
  await pause(retryInMs, schedule, signal)
}

/**
 * The result of `work`, tried again until it works.
 * @param isKnown As for {@link isFinal}.
 * @throws What that says is final, and anything once `signal` aborted.
 */
export async function untilItWorks<T>(work: () => Promise<T>, options: RetryOptions, isKnown?: boolean): Promise<T> {
  for (let failures = 0; ; failures++) {
    try {
      return await work()
    } catch (error) {
      if (options.signal?.aborted || !isApiError(error) || isFinal(error, isKnown)) throw error
      await waitToRetry(failures, options)
    }
  }
}

export const scheduleTimeout: Schedule = (run, delayMs) => {
  const timer = setTimeout(run, delayMs)
  return () => clearTimeout(timer)
}

/** Waits `delayMs`, less when the signal aborts or the browser finds its network again. */
function pause(delayMs: number, schedule: Schedule, signal: AbortSignal | undefined): Promise<void> {
  if (signal?.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const done = () => {
      cancel()
      signal?.removeEventListener('abort', done)
      globalThis.removeEventListener?.('online', done)
      resolve()
    }
    const cancel = schedule(done, delayMs)
    signal?.addEventListener('abort', done, { once: true })
    globalThis.addEventListener?.('online', done)
  })
}
