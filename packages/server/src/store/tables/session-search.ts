import { ask, type Tx } from '../query.ts'

/** True when `whole` has `part` in it, whatever the case of its letters. */
export const includesText = (whole: string, part: string): boolean => whole.toLowerCase().includes(part.toLowerCase())

/**
 * Those of the sessions in which a person or an agent said `text`, by their ids; the case of letters does not matter. What tools answered,
 * requests for approval and notes are left out: they repeat what actions are about, and that may have been redacted since.
 */
export function* sessionsSaying(text: string, sessionIds: readonly string[]): Tx<Set<string>> {
  if (sessionIds.length === 0) return new Set()
  const rows = yield* ask((db, { hasText }) =>
    db
      .selectFrom('message')
      .select('session_id')
      .distinct()
      .where('session_id', 'in', sessionIds)
      .where('kind', '=', 'text')
      .where('role', 'in', ['user', 'assistant'])
      .where(hasText('content', text))
      .orderBy('session_id')
      .limit(sessionIds.length),
  )
  return new Set(rows.map((row) => row.session_id))
}
