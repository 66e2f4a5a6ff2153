import type { ModelErrorCode } from '@countersign/core'
import type { Clock } from '../clock.ts'

const FIRST_REST_MS = 15_000
const LONGEST_REST_MS = 300_000

/** These say at once that asking again soon is a waste; of the others one may be an accident. */
const TELLING: ReadonlySet<ModelErrorCode> = new Set(['model_unreachable', 'model_overloaded', 'model_rate_limited'])

interface Trouble {
  failures: number
  code: ModelErrorCode
  restsUntil: number
  /** Somebody is asking it whether it is back. */
  isProbed: boolean
}

/** Which models are left alone for a while, because they failed: not every step has to wait for the same timeout. */
export interface Circuits {
  /** Why a model is left alone now; undefined when it may be asked. Of one whose rest is over only the first who asks is told so. */
  enter(model: string): ModelErrorCode | undefined
  succeeded(model: string): void
  /** @param retryAfterMs What the model asked for itself. */
  failed(model: string, code: ModelErrorCode, retryAfterMs?: number): void
  /** Whoever asked gave up before the model said anything about itself. */
  left(model: string): void
}

/**
 * Keeps in mind which models failed, for one process. A rest begins with 15 s and doubles with each failure in a row, up to 5 minutes;
 * an answer ends it.
 */
export function createCircuits(clock: Pick<Clock, 'nowMs'>): Circuits {
  const troubles = new Map<string, Trouble>()
  return {
    enter(model) {
      const trouble = troubles.get(model)
      if (!trouble) return undefined
      if (trouble.isProbed || clock.nowMs() < trouble.restsUntil) return trouble.code
      // A single accident is no reason to send only one at a time.
      if (trouble.restsUntil > 0) trouble.isProbed = true
      return undefined
    },
    succeeded(model) {
      troubles.delete(model)
    },
    failed(model, code, retryAfterMs = 0) {
      const failures = (troubles.get(model)?.failures ?? 0) + 1
      const rests = TELLING.has(code) ? failures : failures - 1
      const restMs = rests === 0 ? 0 : Math.min(Math.max(FIRST_REST_MS * 2 ** (rests - 1), retryAfterMs), LONGEST_REST_MS)
      troubles.set(model, { failures, code, restsUntil: restMs === 0 ? 0 : clock.nowMs() + restMs, isProbed: false })
    },
    left(model) {
      const trouble = troubles.get(model)
      if (trouble) trouble.isProbed = false
    },
  }
}
