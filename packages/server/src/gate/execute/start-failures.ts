import { isCountersignError } from '@countersign/core'
import type { Revalidation } from './revalidate.ts'

/** The actions that this process is starting, and those that it cannot start. */
export interface StartFailures {
  /** Since when this process tries to start an action that has its slot, epoch ms; undefined for any other action. */
  startingSinceMs(actionId: string): number | undefined
  /** True for an action that could neither be started nor be marked as failed: it is reported once and waits for its next job. */
  isGivenUp(actionId: string): boolean
  begin(actionId: string, nowMs: number): void
  giveUp(actionId: string): void
  /** The action was started, or is somebody else's. */
  forget(actionId: string): void
}

export function createStartFailures(): StartFailures {
  const starting = new Map<string, number>()
  const givenUp = new Set<string>()
  return {
    startingSinceMs: (id) => starting.get(id),
    isGivenUp: (id) => givenUp.has(id),
    begin: (id, nowMs) => void starting.set(id, nowMs),
    giveUp(id) {
      starting.delete(id)
      givenUp.add(id)
    },
    forget(id) {
      starting.delete(id)
      givenUp.delete(id)
    },
  }
}

/** So often a start is tried that fails although the database is there: about 30 seconds with the pauses between. */
export const START_TRIES = 10
/** So often it is tried after that to write down that the action failed. */
export const FAIL_TRIES = 3

/** How an action ends whose start fails each time. */
export const UNSTARTABLE: Revalidation = {
  to: 'fail',
  kind: 'internal',
  message:
    'It could not be started because of an internal error, and nothing was sent. The log of the server says why, under the id of this action.',
  retryable: true,
}

/** True when the database is away or full: that ends by itself, and says nothing about the action. */
export const isDatabaseAway = (error: unknown): boolean => isCountersignError(error) && error.status > 500
