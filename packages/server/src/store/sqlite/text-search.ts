import type { DatabaseSync } from 'node:sqlite'
import { finderOf } from '../text-patterns.ts'

/** A statement searches each row for a few texts. */
const MAX_FINDERS = 100

/**
 * Adds the function `countersign_has_text(whole, text)` to a connection: 1 when the text is in the whole one, ignoring the case of all letters, of
 * which SQLite itself knows only those of ASCII.
 */
export function addTextSearch(db: DatabaseSync): void {
  const finders = new Map<string, ReturnType<typeof finderOf>>()
  db.function('countersign_has_text', { deterministic: true, directOnly: true }, (whole, text) => {
    if (typeof whole !== 'string' || typeof text !== 'string') return null
    const found = finders.get(text)
    if (found) return found(whole) ? 1 : 0
    if (finders.size >= MAX_FINDERS) finders.clear()
    const finder = finderOf(text)
    finders.set(text, finder)
    return finder(whole) ? 1 : 0
  })
}
