import { type ActionRow, reads, type Tx } from '../../store/index.ts'
import type { SessionContext } from '../context.ts'
import type { PreparedAction } from './prepare.ts'

/**
 * Returns the result of an identical read of the session from a short while ago (same tool, definition, arguments, destination and
 * principal). Only reads that policy allows are served from it.
 */
export function* findReusable(
  { tool, policy, digest }: PreparedAction,
  sessionId: string | null,
  requestedBy: string,
  nowMs: number,
): Tx<ActionRow | undefined> {
  if (tool.cacheForMs === undefined || policy.verdict !== 'allow' || sessionId === null) return undefined
  const asked = { session_id: sessionId, digest, requested_by: requestedBy }
  return yield* reads.findReusable.first({ ...asked, now: nowMs, latest: nowMs + tool.cacheForMs })
}

/**
 * Lets a read that succeeded be given again for `cacheForMs`, unless a write of its session went to the same destination meanwhile: what
 * was read may be older than what was written.
 * @param read As its attempt began.
 */
export function* keepForReuse(
  { session, nowMs }: SessionContext,
  { id, session_id, destination, updated_at }: ActionRow,
  cacheForMs: number,
): Tx<void> {
  if (session_id === null || (yield* reads.findWriteSince.first({ session_id, destination, since: updated_at }))) return
  yield* reads.beginReuse.run({ id, until: nowMs + cacheForMs })
  session?.noteReuse(true)
}

/** A write begins or has ended: what the session has read at its destination may be otherwise now. */
export function* endReuse({ session }: SessionContext, { effect, session_id, destination }: ActionRow): Tx<void> {
  if (effect === 'write' && session_id !== null && session?.state.hasReusable) yield* reads.endReuse.run({ session_id, destination })
}
