import type { OutcomeChecks, Tool, Verification } from '@countersign/core'
import type { stored } from '../../store/index.ts'

/** For how long the effect of a request may still come when its tool does not say. */
const DEFAULT_SETTLES_MS = 5 * 60_000

/** Between two checks: as long as the outcome has been unknown already, within these bounds. */
const SHORTEST_WAIT_MS = 5_000
const LONGEST_WAIT_MS = 10 * 60_000

/** The result of a check that settled nothing. */
export type Found = NonNullable<OutcomeChecks['lastFound']>

export const foundOf = ({ done }: Verification): Found => (done === false ? 'not_found' : 'no_answer')

/** The checks of an outcome that is unknown from now on. `looked` is what a look-up just found, where there was one. */
export function beginChecks(
  { timeoutMs, settlesWithinMs }: Pick<Tool, 'timeoutMs' | 'settlesWithinMs'>,
  looked: Found | undefined,
  nowMs: number,
): stored.StoredChecks {
  const windowMs = settlesWithinMs ?? Math.max(DEFAULT_SETTLES_MS, timeoutMs)
  return { since: nowMs, until: nowMs + windowMs, lastAt: looked ? nowMs : null, lastFound: looked ?? null }
}

/**
 * When to check after a check that began at `checkedAt`; null when that was the last one. All in epoch ms.
 * @param askedMs The target's `Retry-After` in ms. Default 0. It counts up to the longest wait between two checks.
 */
export function nextCheckAt({ since, until }: Pick<stored.StoredChecks, 'since' | 'until'>, checkedAt: number, askedMs = 0): number | null {
  if (checkedAt >= until) return null
  const waitMs = Math.min(Math.max(checkedAt - since, SHORTEST_WAIT_MS), LONGEST_WAIT_MS)
  return Math.max(Math.min(checkedAt + waitMs, until), checkedAt + withinLongest(askedMs))
}

/** Limits a `Retry-After` to the longest wait between two checks. */
export const withinLongest = (askedMs: number): number => Math.min(askedMs, LONGEST_WAIT_MS)
