import { setImmediate } from 'node:timers/promises'
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

/** The number of sessions in one reading. Other queries get the database in between. */
const SEARCHED_AT_ONCE = 100
/** The number of sessions that are searched for one page. */
const SEARCHED_FOR_PAGE = 2_000

/**
 * Returns a page of the sessions that a principal may see, newest first. With `q` a page may be short although there is a next one.
 * @throws CountersignError `bad_request` for an unknown status.
 */
export async function listSessions(store: Store, query: SessionQuery, principal: Principal): Promise<FoundSessions> {
  const filter = { reader: readerOf(principal), statuses: readStatuses(query.status) }
  const { q, limit } = query
  if (!q) {
    const rows = await store.read(() => sessions.listSessions({ ...filter, before: query.before, limit: limit + 1 }))
    return cut(rows, limit)
  }
  const found: SessionRow[] = []
  let { before } = query
  for (let searched = 0; searched < SEARCHED_FOR_PAGE && query.isWanted(); searched += SEARCHED_AT_ONCE) {
    const page = { ...filter, before, limit: SEARCHED_AT_ONCE }
    const { rows, matching } = await store.read(() => search(page, q))
    found.push(...matching)
    if (found.length > limit || rows.length < SEARCHED_AT_ONCE) return cut(found, limit)
    before = rows.at(-1)?.id
    // The embedded database answers at once, so other requests get their turn only here.
    await setImmediate()
  }
  return { rows: found, next: before }
}

const cut = (rows: SessionRow[], limit: number): FoundSessions => {
  const page = rows.slice(0, limit)
  return { rows: page, next: rows.length > limit ? page.at(-1)?.id : undefined }
}

function* search(page: sessions.SessionPage, q: string): Tx<{ rows: SessionRow[]; matching: SessionRow[] }> {
  const rows = yield* sessions.listSessions(page)
  const isTitled = (row: SessionRow) => sessionSearch.includesText(row.title, q)
  const others = rows.filter((row) => !isTitled(row)).map(({ id }) => id)
  const saying = yield* sessionSearch.sessionsSaying(q, others)
  return { rows, matching: rows.filter((row) => isTitled(row) || saying.has(row.id)) }
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
