import { CountersignError } from '@countersign/core'
import { SYSTEM } from '../audit/index.ts'
import { type Caller, type RunContext, type SessionWriter, stopSession, writeSession } from '../gate/index.ts'
import {
  messages,
  type Outbox,
  type PrincipalRow,
  principals,
  type QueuedMessage,
  type RunRow,
  type SessionRow,
  type SessionState,
  sessions,
  type Tx,
} from '../store/index.ts'
import type { AgentDeps } from './agent.ts'
import { keepSaid } from './deltas.ts'
import { startQueuedRun } from './run.ts'
import { addNote } from './session.ts'
import { stepMessageId } from './step-message.ts'

/**
 * Ends what agents do for somebody who is disabled: the open runs of the sessions that they or their agents own, those that answer a message
 * of theirs, and their messages that wait for a run. Safe to repeat.
 * @returns How many sessions had something of theirs.
 */
export async function endRunsOf(deps: Pick<AgentDeps, 'store' | 'clock'>, personId: string): Promise<number> {
  const { store, clock } = deps
  const found = await store.read(() => sessions.sessionsWithWorkOf(personId))
  for (const sessionId of found) await store.transact((outbox) => endForDisabled(outbox, sessionId, clock.nowMs()))
  return found.length
}

/** Ends a session's runs that disabled people started. Runs that others started continue. */
export function* endForDisabled(outbox: Outbox, sessionId: string, now: number): Tx<void> {
  const writer = yield* writeSession(outbox, sessionId, now)
  yield* dropQueued(writer)
  const { run } = writer.state
  const person = run && (yield* disabledBehind(writer.state, run))
  if (run && person) {
    yield* stopFor({ outbox, session: writer, nowMs: now, caller: undefined }, run, person)
    yield* startQueuedRun(outbox, writer, now)
  }
  yield* writer.finish()
}

/** Ends a run in the name of who disabled the person that it works for. */
function* stopFor(context: RunContext, run: RunRow, person: PrincipalRow): Tx<void> {
  const { session: writer, nowMs: now } = context
  const reason = `${person.name} was disabled, so their run was stopped`
  // Undefined when a command on the data did it.
  const by: Caller | undefined =
    person.disabled_by === null ? undefined : { principal: yield* principals.principalById(person.disabled_by) }
  yield* keepSaid(writer, run, stepMessageId(run))
  yield* addNote(writer, `${reason}.`, now, run.id)
  const data = { session: run.session_id, run: run.id, person: person.id }
  yield* writer.audit({ kind: 'run_stopped', actor: by?.principal.id ?? SYSTEM, data })
  yield* stopSession({ ...context, caller: by }, run.id, { reason, by })
}

/** The disabled person whom an open run works for: the owner of its session, or the author of a message that it answers. */
export function* disabledBehind({ session, authors, hasDisabled }: SessionState, run: RunRow): Tx<PrincipalRow | undefined> {
  if (run.state !== 'open' || !hasDisabled) return undefined
  const owner = yield* principals.disabledPersonOf(session.owner_id)
  if (owner) return owner
  for (const author_id of authors) {
    const author = yield* principals.disabledPersonOf(author_id)
    const wrote = author && (yield* messages.messageInRun.first({ session_id: session.id, run_id: run.id, author_id }))
    if (wrote) return author
  }
  return undefined
}

/** True when a message waits for its run that nobody may be answered for. */
export function* waitsForDisabled(state: SessionState): Tx<boolean> {
  return (yield* disabledInQueue(state)).length > 0
}

/** Messages wait for nothing any more. A request has a run of its own that others may follow: that run ends as soon as it is its turn. */
function* dropQueued(writer: SessionWriter): Tx<void> {
  for (const { seq } of yield* disabledInQueue(writer.state)) yield* writer.unqueue(seq)
}

function* disabledInQueue({ session, queued, hasDisabled }: SessionState): Tx<QueuedMessage[]> {
  const found: QueuedMessage[] = []
  if (!hasDisabled || queued.length === 0) return found
  const owner = yield* principals.disabledPersonOf(session.owner_id)
  for (const message of queued) {
    const { run_id, author_id } = message
    if (run_id !== null) continue
    if (owner ?? (author_id !== null && (yield* principals.disabledPersonOf(author_id)))) found.push(message)
  }
  return found
}

/**
 * Refuses to begin anything in a session whose owner is disabled: it would be done on their behalf.
 * @throws CountersignError `forbidden`
 */
export function* requireEnabledOwner({ owner_id }: SessionRow): Tx<void> {
  const owner = yield* principals.disabledPersonOf(owner_id)
  if (owner) throw new CountersignError('forbidden', `${owner.name} is disabled, and this is their session: start one of your own`)
}
