import { type ActionRow, actions, archive, type EventRow, events, type Store } from '../store/index.ts'

/** A file is closed after this much: its rows leave the log in one transaction, which blocks others. */
const MAX_ROWS = 4_000
const MAX_BYTES = 32_000_000
/** A row may hold megabytes. */
const ROWS_PER_READ = 20
const SESSIONS_PER_READ = 100

/** Rows that are taken out of the log together, as they were read. */
export interface Batch {
  /** Each session up to one of its numbers; the last one may have more. */
  sessions: { session: archive.SettledSession; to: number; rows: number }[]
  /** Rows without a session, and the actions that they are about. */
  alone: number[]
  actions: Map<string, ActionRow>
  rows: number
  bytes: number
  /** The highest place in the log among them. */
  lastEvent: number
}

/** How far earlier batches have come. */
export interface Progress {
  sessionsAfter: string
  rowsAfter: number
}

export const emptyBatch = (): Batch => ({ sessions: [], alone: [], actions: new Map(), rows: 0, bytes: 0, lastEvent: 0 })

const isFull = ({ rows, bytes }: Batch): boolean => rows >= MAX_ROWS || bytes >= MAX_BYTES

function add(batch: Batch, row: EventRow): void {
  batch.rows++
  batch.bytes += row.events.length
  batch.lastEvent = Math.max(batch.lastEvent, row.id)
}

/**
 * Reads the rows that were settled before `before` and can be archived next, as many as fit into one file, and yields each row once it is
 * part of `batch`.
 * @param progress Where the batch before this one ended; it is advanced.
 */
export async function* collect(store: Store, before: number, batch: Batch, progress: Progress): AsyncGenerator<EventRow> {
  while (!isFull(batch)) {
    const after = progress.sessionsAfter
    const found = await store.read(() => archive.settledSessions.all({ after, before, limit: SESSIONS_PER_READ }))
    for (const session of found) {
      if (isFull(batch)) return
      yield* collectSession(store, session, batch)
      // A session that did not fit is found again, where this batch leaves it.
      if (batch.sessions.at(-1)?.to === session.last_seq) progress.sessionsAfter = session.id
    }
    if (found.length < SESSIONS_PER_READ) break
  }
  yield* collectAlone(store, before, batch, progress)
}

async function* collectSession(store: Store, session: archive.SettledSession, batch: Batch): AsyncGenerator<EventRow> {
  const part = { session, to: session.archived_seq, rows: 0 }
  batch.sessions.push(part)
  while (!isFull(batch)) {
    const after = part.to
    const rows = await store.read(() => events.sessionRowsAfter.all({ session_id: session.id, after, limit: ROWS_PER_READ }))
    // It has no rows after its number, unless it continued since: then the transaction detects that, and removes nothing.
    for (const row of rows.filter(({ last_seq }) => (last_seq ?? 0) <= session.last_seq)) {
      part.to = row.last_seq ?? part.to
      part.rows++
      add(batch, row)
      yield row
    }
    if (rows.length < ROWS_PER_READ || part.to === after) {
      part.to = session.last_seq
      return
    }
  }
}

/** The same for rows without a session: the events of actions that outside agents proposed. */
export async function* collectAlone(
  store: Store,
  before: number,
  batch: Batch,
  progress: Pick<Progress, 'rowsAfter'>,
): AsyncGenerator<EventRow> {
  while (!isFull(batch)) {
    const after = progress.rowsAfter
    const found = await store.read(() => archive.rowsOfNoSession.all({ after, before, limit: ROWS_PER_READ }))
    for (const row of found) {
      if (isFull(batch)) return
      progress.rowsAfter = row.id
      const action = await settledActionOf(store, row, before, batch)
      if (!action) continue
      batch.alone.push(row.id)
      batch.actions.set(action.id, action)
      // It may have been redacted after the row was read. From here on, the transaction detects a redaction.
      const current = action.redacted_at === null ? row : ((await store.read(() => archive.rowAlone.first({ id: row.id }))) ?? row)
      add(batch, current)
      yield current
    }
    if (found.length < ROWS_PER_READ) return
  }
}

/** Returns the action that a row without a session is about, when it can be archived. */
async function settledActionOf(store: Store, row: EventRow, before: number, { actions: known }: Batch): Promise<ActionRow | undefined> {
  const [stored] = events.readEvents(row)
  const id = stored && events.actionOf(stored.event)
  if (id === undefined) return undefined
  const action = known.get(id) ?? (await store.read(() => actions.findAction.first({ id })))
  return archive.isSettledSince(action, before) ? action : undefined
}
