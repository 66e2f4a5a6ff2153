import { assert } from '@countersign/core'
import type { Requester } from '../../policy/index.ts'
import { type ActionRow, messages, principals, type SessionState, stored, type Tx, together } from '../../store/index.ts'

type Asked = Pick<ActionRow, 'requested_by' | 'session_id' | 'requesters' | 'edited_by'>

/**
 * The ids of all whose words lead to what an agent does in a session: its owner, and every author of a message that the model was given. All
 * of the history counts, not only the last message: a model acts on what it was told at any time.
 */
export function* authorsIn({ id, owner_id }: { id: string; owner_id: string }): Tx<string[]> {
  const authors = yield* messages.authorsOf.all({ session_id: id })
  return [...new Set([owner_id, ...authors.map(({ author_id }) => author_id)])]
}

/** Returns the ids of everybody who asked for the current revision of an action. The first is the one on whose behalf it runs. */
export function* requesterIdsOf({ requested_by, session_id, requesters, edited_by }: Asked): Tx<readonly string[]> {
  const kept = stored.requestersOf({ requesters })
  if (kept !== null) return kept
  // Stored before this was kept with the action.
  const ids = session_id === null ? [requested_by] : yield* authorsIn({ id: session_id, owner_id: requested_by })
  return edited_by === null || ids.includes(edited_by) ? ids : [...ids, edited_by]
}

/** The principals with these ids, as they are now. */
function* principalsOf(ids: readonly string[]): Tx<Requester[]> {
  const found: Requester[] = []
  for (const id of ids) {
    const isDisabled = (yield* principals.disabledPersonOf(id)) !== undefined
    found.push({ ...(yield* principals.principalById(id)), ...(isDisabled && { isDisabled }) })
  }
  return found
}

/** The principals of {@link authorsIn}. First the one on whose behalf the agent acts. */
export function* requestersIn({ session: { owner_id }, authors, hasDisabled }: SessionState): Tx<Requester[]> {
  const ids = [...new Set([owner_id, ...authors])]
  if (hasDisabled) return yield* principalsOf(ids)
  return (yield* together(...ids.map((id) => principals.findPrincipal.first({ id })))).map((row) => {
    assert(row, 'the session refers to its authors')
    return principals.readPrincipal(row)
  })
}

/** Returns everybody who asked for the current revision of an action. */
export function* requestersOf(row: Asked): Tx<Requester[]> {
  return yield* principalsOf(yield* requesterIdsOf(row))
}

/** The persons who asked for an action, by their ids: those who wrote themselves, and the owners of agents that did. */
export function* askingPersons(row: Asked): Tx<ReadonlySet<string>> {
  const ids: string[] = []
  for (const id of yield* requesterIdsOf(row)) {
    const person = (yield* principals.findPrincipal.first({ id }))?.person_id
    if (person) ids.push(person)
  }
  return new Set(ids)
}
