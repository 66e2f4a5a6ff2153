import { createHash } from 'node:crypto'
import { type ActionRow, actions, lockKey, type Outbox, type Tx, waiting } from '../../store/index.ts'
import type { Caller } from '../caller.ts'
import { emitUpdate, writeSessionOf } from '../events.ts'
import type { SessionWriter } from '../session-writer.ts'
import type { PreparedAction } from './prepare.ts'

const callOf = ({ tool, definitionHash, argumentsText, agent, claimedAgent }: PreparedAction, requestedBy: string) => ({
  requested_by: requestedBy,
  agent: agent ?? claimedAgent ?? '',
  tool: tool.name,
  definition_hash: definitionHash,
  arguments: argumentsText,
})

/** Lets the same calls of one requester wait for each other, so that the second finds the first. To be asked for before any other lock. */
export function* queueWithSameAsk(prepared: PreparedAction, requestedBy: string): Tx<void> {
  const text = JSON.stringify(callOf(prepared, requestedBy))
  yield* lockKey(`ask ${createHash('sha256').update(text).digest('hex')}`)
}

/**
 * The waiting action that a call without an idempotency key repeats, counted once more; undefined where there is none. Two calls with keys
 * of their own are two wishes and never fold, nor does a call into an action that was proposed with a key or edited by a person.
 */
export function* repeatAsk(outbox: Outbox, prepared: PreparedAction, caller: Caller, nowMs: number): Tx<ActionRow | undefined> {
  const found = yield* waiting.sameAsk.first(callOf(prepared, caller.principal.id))
  if (!found || (found.expires_at !== null && found.expires_at <= nowMs)) return undefined
  // Under another version of the policy other people may have to decide.
  if (JSON.parse(found.policy).version !== prepared.policy.version) return undefined
  const writer = yield* writeSessionOf(outbox, found, nowMs)
  return yield* countRepeat(outbox, writer, found, caller, nowMs)
}

/** Counts that a waiting action was asked for once more, and tells of it. Undefined when people have decided meanwhile. */
export function* countRepeat(
  outbox: Outbox,
  writer: SessionWriter | undefined,
  found: ActionRow,
  by: Caller | undefined,
  nowMs: number,
): Tx<ActionRow | undefined> {
  if (!(yield* waiting.countAsk.change({ id: found.id, now: Math.max(nowMs, found.updated_at) }))) return undefined
  const row = yield* actions.findAction.first({ id: found.id })
  if (!row) return undefined
  const counted = { timesAsked: row.times_asked }
  yield* emitUpdate(outbox, writer, row, counted, { kind: 'repeated', by, data: counted }, nowMs)
  return row
}
