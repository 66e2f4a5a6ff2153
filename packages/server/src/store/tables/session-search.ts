import { ask, type Tx } from '../query.ts'

/** Returns true when `whole` contains `part`, ignoring the case of letters. */
export const includesText = (whole: string, part: string): boolean => whole.toLowerCase().includes(part.toLowerCase())

/**
 * Returns the ids of the given sessions in which a person or an agent wrote `text`, ignoring the case of letters. Answers of tools,
 * approval requests and notes are left out: they repeat the content of actions, which may have been redacted since.
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
