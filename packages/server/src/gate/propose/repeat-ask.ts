import { createHash } from 'node:crypto'
import { type ActionRow, actions, lockKey, stored, type Tx, waiting } from '../../store/index.ts'
import { type CallerContext, openSession, type SessionContext } from '../context.ts'
import { emitUpdate } from '../events.ts'
import type { PreparedAction } from './prepare.ts'

const callOf = ({ tool, definitionHash, argumentsText, agent, claimedAgent }: PreparedAction, requestedBy: string) => ({
  requested_by: requestedBy,
  agent: agent ?? claimedAgent ?? '',
  tool: tool.name,
  definition_hash: definitionHash,
  arguments: argumentsText,
})

/**
 * Lets the same calls of one requester wait for each other, so that the second finds the first. Take it before any other lock: a
 * transaction that decides about the first waits for rights while it holds this lock.
 * @returns The waiting action of the same call, locked; undefined when none waits; then nobody else proposes it meanwhile.
 */
export function* queueWithSameAsk(prepared: PreparedAction, requestedBy: string): Tx<ActionRow | undefined> {
  const call = callOf(prepared, requestedBy)
  yield* lockKey(`ask ${createHash('sha256').update(JSON.stringify(call)).digest('hex')}`)
  const found = yield* waiting.sameAsk.first(call)
  if (found) yield* lockKey(found.id)
  return found
}

/**
 * Returns the waiting action that a call without an idempotency key repeats, and counts the repeat; undefined when there is none. Calls
 * with keys of their own are never merged, nor is a call into an action that was proposed with a key or edited by a person.
 * @param found From {@link queueWithSameAsk}.
 */
export function* repeatAsk(context: CallerContext, prepared: PreparedAction, found: ActionRow): Tx<ActionRow | undefined> {
  const { nowMs } = context
  if (found.expires_at !== null && found.expires_at <= nowMs) return undefined
  // Under another version of the policy other people may have to decide.
  if (stored.policyOf(found).version !== prepared.policy.version) return undefined
  return yield* countRepeat(yield* openSession(context, found), found)
}

/** Counts that the caller asked for a waiting action once more. Undefined when people have decided meanwhile. */
export function* countRepeat(context: SessionContext, found: ActionRow): Tx<ActionRow | undefined> {
  const { caller, nowMs } = context
  if (!(yield* waiting.countAsk.change({ id: found.id, now: Math.max(nowMs, found.updated_at) }))) return undefined
  const row = yield* actions.findAction.first({ id: found.id })
  if (!row) return undefined
  const counted = { timesAsked: row.times_asked }
  yield* emitUpdate(context, row, counted, { kind: 'repeated', by: caller, data: counted })
  return row
}
