import { actions, type Outbox, type Tx, votes } from '../../store/index.ts'
import type { Caller } from '../caller.ts'
import { emitUpdate, writeSessionOf } from '../events.ts'
import type { GateDeps } from '../gate.ts'
import { viewVotes } from '../read/view.ts'

/** Waiting actions that are looked up at a time; each is then written in a transaction of its own. */
const BATCH = 100

/**
 * Takes away the votes of a person on everything that still waits, and those given in their place. The record and everybody who looks at
 * such an action hear of it. A vote of somebody disabled is not counted before that either.
 * @returns On how many actions.
 */
export async function voidVotesOf(deps: GateDeps, personId: string, caller: Caller): Promise<number> {
  const { store, clock } = deps
  let voided = 0
  for (;;) {
    const waiting = await store.read(() => votes.waitingWithVoteOf.all({ person_id: personId, limit: BATCH }))
    if (waiting.length === 0) return voided
    let changed = 0
    for (const { action_id } of waiting) {
      if (await store.transact((outbox) => voidVote(outbox, action_id, personId, caller, clock.nowMs()))) changed++
    }
    voided += changed
    // What could not be changed is being decided or expired by somebody else right now, and waits no more.
    if (changed === 0) return voided
  }
}

function* voidVote(outbox: Outbox, actionId: string, personId: string, caller: Caller, nowMs: number): Tx<boolean> {
  const found = yield* actions.findAction.first({ id: actionId })
  if (found?.state !== 'proposed') return false
  const writer = yield* writeSessionOf(outbox, found, nowMs)
  const row = (yield* actions.findAction.first({ id: actionId })) ?? found
  const now = Math.max(nowMs, row.updated_at)
  if (!(yield* actions.holdAction.change({ id: row.id, revision: row.revision, now }))) return false
  if (!(yield* votes.voidVotes.change({ action_id: row.id, revision: row.revision, person_id: personId }))) return false
  const moved = { ...row, updated_at: now }
  const deed = { kind: 'vote_voided', by: caller, data: { of: personId } } as const
  yield* emitUpdate(outbox, writer, moved, { votes: yield* viewVotes(moved) }, deed, nowMs)
  if (writer) yield* writer.finish()
  return true
}
