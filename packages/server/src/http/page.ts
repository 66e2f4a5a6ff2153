import { CountersignError, PageQuery } from '@countersign/core'
import type { z } from 'zod'

/**
 * Encodes an opaque cursor that marks where the next page begins.
 * @param list Part of the cursor, so that no other list takes it: the place of one list would silently skip items of another.
 */
export const encodeCursor = (list: string, place: (string | number)[]): string =>
  Buffer.from(JSON.stringify([list, ...place])).toString('base64url')

/** @throws CountersignError `bad_request` for a cursor that this server did not make for this list. */
export function decodeCursor(list: string, cursor: string | undefined, kinds: ('string' | 'number')[]): (string | number)[] | undefined {
  if (cursor === undefined) return undefined
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'))
    if (Array.isArray(parts) && parts[0] === list) {
      const place = parts.slice(1)
      // Postgres refuses a fraction where a number of a row belongs.
      const isPart = (part: unknown, i: number) => typeof part === kinds[i] && (typeof part === 'string' || Number.isSafeInteger(part))
      if (place.length === kinds.length && place.every(isPart)) return place
    }
  } catch {
    // Falls through to the refusal: the parse error does not help the caller.
  }
  throw new CountersignError('bad_request', 'cursor: give back the nextCursor of the page before of this list, unchanged')
}

/** Splits a list that was read with one extra row into a page and the cursor of the next one. */
export function pageOf<T>(
  list: string,
  rows: readonly T[],
  limit: number,
  placeOf: (row: T) => (string | number)[],
): { items: T[]; nextCursor: string | null } {
  const items = rows.slice(0, limit)
  const last = items.at(-1)
  return { items, nextCursor: rows.length > limit && last !== undefined ? encodeCursor(list, placeOf(last)) : null }
}

/**
 * Opens a page of a list that is sorted by id, the newest first.
 * @returns `range` says which rows to read: one more than the page holds, which shows whether another page follows. `of` makes the page from
 * these rows; `ofAll` makes it from all rows of the list, for lists that are short.
 */
export function pageById(list: string, { limit, cursor }: z.output<typeof PageQuery>) {
  const before = decodeCursor(list, cursor, ['string'])?.map(String)[0]
  const of = <Row extends { id: string }>(rows: readonly Row[]) => pageOf(list, rows, limit, ({ id }) => [id])
  return {
    range: { before, limit: limit + 1 },
    of,
    ofAll: <Row extends { id: string }>(all: readonly Row[]) => of(all.filter(({ id }) => before === undefined || id < before)),
  }
}

/** The query of a list that is in memory: without `limit` it comes whole. */
export const MemoryPageQuery = PageQuery.extend({
  limit: PageQuery.shape.limit.unwrap().optional().describe('The most entries in the answer; without it all.'),
})

/** Returns a page of a list that is in memory. The cursor names the last item of the page before, since the list may change in between. */
export function pageInMemory<T extends { name: string }>(
  list: string,
  all: readonly T[],
  { limit = all.length, cursor }: z.infer<typeof MemoryPageQuery>,
): { items: T[]; nextCursor: string | null } {
  const [after] = decodeCursor(list, cursor, ['string']) ?? []
  const at = after === undefined ? -1 : all.findIndex(({ name }) => name === after)
  if (after !== undefined && at < 0) throw new CountersignError('bad_request', 'cursor: the list has changed, so begin again without one')
  return pageOf(list, all.slice(at + 1), limit, ({ name }) => [name])
}
