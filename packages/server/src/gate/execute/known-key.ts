import { type ActionRow, audit, type Tx } from '../../store/index.ts'
import type { GateDeps } from '../gate.ts'
import { attemptKey } from './attempt-key.ts'
import { untilItWorks } from './retry.ts'

/** For so long after its first use a target is trusted to know a key. Many services forget keys after a day, and clocks differ. */
const KEY_KNOWN_MS = 20 * 3_600_000

/**
 * Returns true while another send under the action's key still runs once: its target may forget the key after about a day. The time counts
 * from the first send under the key, because a repeat does not make a target remember it for longer. A read needs no key.
 */
export function* isKeyKnown(row: ActionRow, nowMs: number): Tx<boolean> {
  if (isSurelyKnown(row, nowMs)) return true
  const isNewKey = row.idempotency_key === attemptKey(row.id, row.attempt)
  return isRecent(isNewKey ? row.started_at : yield* audit.firstWithKey(row), nowMs)
}

/** The same while an attempt is carried out. Undefined when the process stops before the database answers. */
export async function waitForKnownKey(deps: GateDeps, row: ActionRow): Promise<boolean | undefined> {
  if (isSurelyKnown(row, deps.clock.nowMs())) return true
  return untilItWorks(deps, row.id, () => deps.store.read(() => isKeyKnown(row, deps.clock.nowMs())))
}

/** No key is older than its action. */
const isSurelyKnown = ({ effect, created_at }: ActionRow, nowMs: number) => effect === 'read' || isRecent(created_at, nowMs)

/** A time that lies far ahead is of a clock that was wrong, and tells nothing. */
const isRecent = (atMs: number | null, nowMs: number) => atMs !== null && Math.abs(nowMs - atMs) < KEY_KNOWN_MS
