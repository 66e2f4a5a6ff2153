import { actions, type Tx, votes } from '../../store/index.ts'
import type { Caller } from '../caller.ts'
import { type CallerContext, openSession } from '../context.ts'
import { emitUpdate } from '../events.ts'
import type { GateDeps } from '../gate.ts'
import { viewVotes } from '../read/view.ts'

/** Actions in one state that are looked up at a time; each is then written in a transaction of its own. */
const BATCH = 100

/**
 * Voids the votes of a person on all actions that have not started, and the votes that others gave for them. Each is recorded and announced.
 * An action that was approved by such a vote goes back for approval when it is about to start. Votes of a disabled person do not count even
 * before they are voided.
 * @returns The number of actions.
 */
export async function voidVotesOf(deps: GateDeps, personId: string, caller: Caller): Promise<number> {
  const { store, clock } = deps
  let voided = 0
  for (;;) {
    const unstarted = await store.read(() => votes.unstartedWithVoteOf({ person_id: personId, limit: BATCH }))
    if (unstarted.length === 0) return voided
    let changed = 0
    for (const { action_id } of unstarted) {
      if (await store.transact((outbox) => voidVote({ outbox, caller, nowMs: clock.nowMs() }, action_id, personId))) changed++
    }
    voided += changed
    // An action that could not be changed is being decided, started or expired at this moment.
    if (changed === 0) return voided
  }
}

function* voidVote(context: CallerContext, actionId: string, personId: string): Tx<boolean> {
  const found = yield* actions.findAction.first({ id: actionId })
  if (!found) return false
  const opened = yield* openSession(context, found)
  const row = (yield* actions.findAction.first({ id: actionId })) ?? found
  const { revision } = row
  const now = Math.max(context.nowMs, row.updated_at)
  const noted =
    row.state === 'approved'
      ? yield* actions.noteVoided(row, { updated_at: now }, { revision })
      : yield* actions.noteVote(row, { updated_at: now }, { revision, now })
  if (!noted || !(yield* votes.voidVotes.change({ action_id: row.id, revision, person_id: personId }))) return false
  opened.session?.noteAction(noted)
  const cause = { kind: 'vote_voided', by: context.caller, data: { of: personId } } as const
  yield* emitUpdate(opened, noted, { votes: yield* viewVotes(noted, now) }, cause)
  if (opened.session) yield* opened.session.finish()
  return true
}
