import { CountersignError, PageQuery } from '@countersign/core'
import type { z } from 'zod'

/** Encodes an opaque cursor that marks where the next page begins. */
export const encodeCursor = (place: (string | number)[]): string => Buffer.from(JSON.stringify(place)).toString('base64url')

/** @throws CountersignError `bad_request` for a cursor that this server did not make. */
export function decodeCursor(cursor: string | undefined, kinds: ('string' | 'number')[]): (string | number)[] | undefined {
  if (cursor === undefined) return undefined
  try {
    const place = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'))
    if (Array.isArray(place) && place.length === kinds.length && place.every((part, i) => typeof part === kinds[i])) return place
  } catch {
    // Falls through to the refusal: the parse error does not help the caller.
  }
  throw new CountersignError('bad_request', 'cursor: give back the nextCursor of the page before, unchanged')
}

/** Splits a list that was read with one extra row into a page and the cursor of the next one. */
export function pageOf<T>(
  rows: readonly T[],
  limit: number,
  placeOf: (row: T) => (string | number)[],
): { rows: T[]; nextCursor: string | null } {
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return { rows: page, nextCursor: rows.length > limit && last !== undefined ? encodeCursor(placeOf(last)) : null }
}

/** The query of a list that is in memory: without `limit` it comes whole. */
export const MemoryPageQuery = PageQuery.extend({ limit: PageQuery.shape.limit.unwrap().optional() })

/** Returns a page of a list that is in memory. The cursor names the last item of the page before, since the list may change in between. */
export function pageInMemory<T extends { name: string }>(
  all: readonly T[],
  { limit = all.length, cursor }: z.infer<typeof MemoryPageQuery>,
): { items: T[]; nextCursor: string | null } {
  const [after] = decodeCursor(cursor, ['string']) ?? []
  const at = after === undefined ? -1 : all.findIndex(({ name }) => name === after)
  if (after !== undefined && at < 0) throw new CountersignError('bad_request', 'cursor: the list has changed, so begin again without one')
  const { rows, nextCursor } = pageOf(all.slice(at + 1), limit, ({ name }) => [name])
  return { items: rows, nextCursor }
}
