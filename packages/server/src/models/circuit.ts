import type { ModelErrorCode } from '@countersign/core'
import type { Machine } from '../store/index.ts'

const FIRST_REST_MS = 15_000
const LONGEST_REST_MS = 300_000

/** After these errors a retry soon is pointless; any other error may be a single accident. */
const TELLING: ReadonlySet<ModelErrorCode> = new Set(['model_unreachable', 'model_overloaded', 'model_rate_limited'])

interface Trouble {
  failures: number
  code: ModelErrorCode
  restsUntil: number
  /** A caller is checking whether the model works again. */
  isProbed: boolean
}

/** Tracks which models are paused after failures, so that not every step has to wait for the same timeout. */
export interface Circuits {
  /** Returns why a model is paused; undefined when it may be called. After the pause, only the first caller gets undefined. */
  enter(model: string): ModelErrorCode | undefined
  succeeded(model: string): void
  /** @param retryAfterMs The pause that the model requested. */
  failed(model: string, code: ModelErrorCode, retryAfterMs?: number): void
  /** Records that the caller gave up before the model answered. */
  left(model: string): void
}

/**
 * Remembers which models failed, for one process. A pause begins with 15 s and doubles with each failure in a row, up to 5 minutes; an
 * answer ends it. In steady time: a machine whose clock is set back by an hour would pause its models for as much longer.
 */
export function createCircuits({ steadyMs }: Pick<Machine, 'steadyMs'>): Circuits {
  const troubles = new Map<string, Trouble>()
  return {
    enter(model) {
      const trouble = troubles.get(model)
      if (!trouble) return undefined
      if (trouble.isProbed || steadyMs() < trouble.restsUntil) return trouble.code
      // A single failure does not limit the model to one caller at a time.
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
      troubles.set(model, { failures, code, restsUntil: restMs === 0 ? 0 : steadyMs() + restMs, isProbed: false })
    },
    left(model) {
      const trouble = troubles.get(model)
      if (trouble) trouble.isProbed = false
    },
  }
}
