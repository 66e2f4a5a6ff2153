import { idempotently, type Tx } from '../store/index.ts'
import type { Caller } from './caller.ts'
import type { CallerContext } from './context.ts'
import type { GateDeps } from './gate.ts'

/**
 * Makes a change for a caller in one transaction. A repeat with the same idempotency key changes nothing and returns the first answer.
 * @throws CountersignError `idempotency_mismatch` when the key was used for another request.
 */
export function transactOnce<T>(
  { store, clock }: Pick<GateDeps, 'store' | 'clock'>,
  caller: Caller,
  change: (context: CallerContext) => Tx<T>,
): Promise<T> {
  const nowMs = clock.nowMs()
  return store.transact((outbox) => idempotently(caller.once, nowMs, () => change({ outbox, nowMs, caller })))
}
