import { setImmediate as nextTurn } from 'node:timers/promises'
import { CountersignError, type Principal, SessionStatus } from '@countersign/core'
import { readerOf } from '../gate/index.ts'
import { type SessionRow, type Store, sessionSearch, sessions, type Tx } from '../store/index.ts'

export interface SessionQuery {
  /** One status, or several with commas between. */
  status: string | undefined
  /** Only sessions that have this text in their title or in what was said. */
  q: string | undefined
  /** Only ids before this one. */
  before: string | undefined
  limit: number
  /** False once nobody waits for the answer: a search then ends where it is. */
  isWanted(): boolean
}

export interface FoundSessions {
  rows: SessionRow[]
  /** The id to go on before; undefined at the end. */
  next: string | undefined
}

/** The number of sessions whose messages are searched in one reading. */
const SEARCHED_AT_ONCE = 100
/**
 * The events of the sessions whose messages are searched in one statement, which the embedded database does in one piece: of 200,000 messages
 * it took 150 to 450 ms, in which nothing else was served. There are at least as many events as messages, mostly several times as many.
 */
const SEARCHED_EVENTS = 10_000
/** The number of sessions that are searched for one page. */
const SEARCHED_FOR_PAGE = 2_000
/** How many sessions are looked through in one piece for those that a principal may see: first a few, where most find enough. */
const PIECES = [200, 2_000] as const
/** No id is greater. */
const END = 'ses_~'

/**
 * Returns a page of the sessions that a principal may see, newest first. With `q` a page may be short although there is a next one.
 * @throws CountersignError `bad_request` for an unknown status.
 */
export async function listSessions(store: Store, query: SessionQuery, principal: Principal): Promise<FoundSessions> {
  const filter = { reader: readerOf(principal), statuses: readStatuses(query.status) }
  const { q, limit, isWanted } = query
  const read = (before: string | undefined, count: number) => readVisible(store, { ...filter, before, limit: count }, isWanted)
  if (!q) return cut(await read(query.before, limit + 1), limit)
  const found: SessionRow[] = []
  let { before } = query
  for (let searched = 0; searched < SEARCHED_FOR_PAGE && isWanted(); searched += SEARCHED_AT_ONCE) {
    const rows = await read(before, SEARCHED_AT_ONCE)
    for (const some of inPieces(rows)) {
      if (!isWanted()) break
      found.push(...(await store.read(() => search(some, q))))
      await nextTurn()
    }
    if (found.length > limit || rows.length < SEARCHED_AT_ONCE) return cut(found, limit)
    before = rows.at(-1)?.id
  }
  return { rows: found, next: before }
}

/**
 * Returns the sessions of a page. For a principal who sees few of many sessions, all the others are looked through. They are read in pieces:
 * the embedded database blocks the event loop while it reads, and other requests get their turn in between.
 */
async function readVisible(store: Store, page: sessions.SessionPage, isWanted: () => boolean): Promise<SessionRow[]> {
  const found: SessionRow[] = []
  let before = page.before ?? END
  for (let piece = 0; ; piece++) {
    const count = PIECES[piece] ?? PIECES[1]
    const from = await store.read(function* () {
      const oldest = (yield* sessions.idBefore.first({ before, count }))?.id
      found.push(...(yield* sessions.listSessions({ ...page, from: oldest, before, limit: page.limit - found.length })))
      return oldest
    })
    if (from === undefined || found.length >= page.limit || !isWanted()) return found
    before = from
    await nextTurn()
  }
}

/** Splits sessions, in their order, into such as are searched together; a very long one is alone. */
function* inPieces(rows: readonly SessionRow[]): Generator<SessionRow[]> {
  let piece: SessionRow[] = []
  let events = 0
  for (const row of rows) {
    if (piece.length > 0 && events + row.last_seq > SEARCHED_EVENTS) {
      yield piece
      piece = []
      events = 0
    }
    piece.push(row)
    events += row.last_seq
  }
  if (piece.length > 0) yield piece
}

const cut = (rows: SessionRow[], limit: number): FoundSessions => {
  const page = rows.slice(0, limit)
  return { rows: page, next: rows.length > limit ? page.at(-1)?.id : undefined }
}

function* search(rows: readonly SessionRow[], q: string): Tx<SessionRow[]> {
  const isTitled = (row: SessionRow) => sessionSearch.includesText(row.title, q)
  const others = rows.filter((row) => !isTitled(row)).map(({ id }) => id)
  const saying = yield* sessionSearch.sessionsSaying(q, others)
  return rows.filter((row) => isTitled(row) || saying.has(row.id))
}

function readStatuses(text: string | undefined): SessionStatus[] {
  if (text === undefined || text === '') return []
  const known = SessionStatus.options
  return text.split(',').map((status) => {
    const found = known.find((candidate) => candidate === status)
    if (!found) throw new CountersignError('bad_request', `status: ${JSON.stringify(status)} is not one of ${known.join(', ')}`)
    return found
  })
}
