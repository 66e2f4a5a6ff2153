import { type Principal, personOf } from '@countersign/core'
import { isWriter, type SessionWriter } from '../gate/index.ts'
import { participants, principals, type QueuedMessage, type SessionRow, type Tx } from '../store/index.ts'
import { addNote } from './session.ts'

/** True for the session's owner, and for the person whose agent owns it. */
export function* ownsSession({ owner_id }: SessionRow, principal: Principal): Tx<boolean> {
  if (owner_id === principal.id) return true
  if (principal.kind !== 'person') return false
  const owner = yield* principals.principalById(owner_id)
  return personOf(owner) === principal.id
}

/** True for those who own a session or were invited to it. */
export function* isParticipant(session: SessionRow, principal: Principal): Tx<boolean> {
  if (yield* ownsSession(session, principal)) return true
  return (yield* participants.findParticipant.first({ session_id: session.id, principal_id: principal.id })) !== undefined
}

/**
 * Takes out of the queue what was written by somebody who may not write in the session any more: their invitation ended, or their role was
 * taken away. Whoever called a request of theirs gets its end.
 */
export function* dropOfFormerWriters(writer: SessionWriter, now: number): Tx<void> {
  const reasons = new Map<string, string | undefined>()
  for (const message of writer.state.queued) {
    const { author_id } = message
    if (author_id === null) continue
    if (!reasons.has(author_id)) reasons.set(author_id, yield* whyNoWriter(writer.row, yield* principals.principalById(author_id)))
    const reason = reasons.get(author_id)
    if (reason !== undefined) yield* drop(writer, message, reason, now)
  }
}

function* whyNoWriter(session: SessionRow, author: Principal): Tx<string | undefined> {
  if (!isWriter(author)) return `${author.name} has no role to ask for anything any more, so their request was not carried out`
  if (yield* isParticipant(session, author)) return undefined
  return `${author.name} is no longer invited to this session, so their request was not carried out`
}

/** What was written stays for people to read; a request ends with a note that says why. */
function* drop(writer: SessionWriter, { seq, run_id }: QueuedMessage, reason: string, now: number): Tx<void> {
  yield* writer.unqueue(seq)
  if (run_id === null) return
  yield* addNote(writer, `${reason}.`, now, run_id)
  writer.event({ type: 'error', data: { code: 'cancelled', error: reason, runId: run_id } })
}
