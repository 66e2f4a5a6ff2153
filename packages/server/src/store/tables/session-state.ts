import { OPEN_STATES } from '@countersign/core'
import { type RawBuilder, sql } from 'kysely'
import { ahead, lit, lockUnderRights, question, recall, type Tx } from '../query.ts'
import type { ActionRow } from './action-rows.ts'
import { findAction, type OpenAction } from './actions.ts'
import { historyAtStep as messagesAtStep } from './messages.ts'
import type { MessageRow, RunRow, SessionRow } from './session-rows.ts'
import { findSession } from './sessions.ts'
import { listOfStates } from './state-in.ts'

/** A message that waits for its turn. */
export type QueuedMessage = Pick<MessageRow, 'seq' | 'run_id' | 'author_id'>

/** A session with everything that its next step depends on. */
export interface SessionState {
  session: SessionRow
  /** The newest run, open or ended. */
  run: RunRow | undefined
  /** The actions that still need a person or an answer, oldest first. */
  open: readonly OpenAction[]
  /** In the order of their turns. */
  queued: readonly QueuedMessage[]
  /** The ids of the authors of the model's history. */
  authors: readonly string[]
  /** True when the person behind the owner, an author, or a queued message is disabled. */
  hasDisabled: boolean
  /** True when an action of the session was declined. */
  hasDeclined: boolean
  /** True when there is a grant, of this session or any other, that was not revoked. */
  hasGrants: boolean
  /** True when a result that was read in the session may be given again. */
  hasReusable: boolean
  readonly known: KnownRows
}

/** Rows of a session that this process has written and need not read again. Nothing, when the session was read from the database. */
export interface KnownRows {
  /** Open actions, by their ids. */
  readonly actions: ReadonlyMap<string, ActionRow>
  /** All messages of the model's history after the place `after`, in order. */
  readonly history: { readonly after: number; readonly rows: readonly MessageRow[] }
  /** False when the log certainly has no piece of the message of the run's next step. */
  readonly mayHaveDeltas: boolean
}

const NO_ACTIONS: ReadonlyMap<string, ActionRow> = new Map()

/** {@link SessionState} as one row: lists as JSON. */
type StateRow = SessionRow & {
  run_row: string | null
  open_rows: string
  queued_rows: string
  author_ids: string
  has_disabled: number
  has_declined: number
  has_grants: number
  has_reusable: number
}

/** In the order that `readRun` reads. */
const RUN_COLUMNS = [
  'session_id',
  'number',
  'id',
  'state',
  'steps',
  'input_tokens',
  'cached_input_tokens',
  'output_tokens',
  'cache_write_tokens',
  'estimated_steps',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof RunRow)[]

const OPEN_COLUMNS = ['id', 'state', 'run_id', 'executor', 'due_at'] as const
const QUEUED_COLUMNS = ['seq', 'run_id', 'author_id'] as const

const isThere = (query: RawBuilder<unknown>) => sql<number>`(case when exists (${query}) then 1 else 0 end)`

// One statement instead of five. The limits are far above what a session has: they end a scan of rows that should not be there.
const findState = question<{ id: string }, StateRow>((db, p, { jsonRow, jsonRows }) => {
  const open = sql`select ${sql.join(OPEN_COLUMNS.map((column) => sql.ref(column)))} from action
    where session_id = ${p.id} and state in ${listOfStates(OPEN_STATES)} order by id limit ${lit(100_000)}`
  const queued = sql`select ${sql.join(QUEUED_COLUMNS.map((column) => sql.ref(column)))} from message
    where session_id = ${p.id} and queued = 1 order by seq limit ${lit(1_000)}`
  const authors = sql`select distinct author_id from message
    where session_id = ${p.id} and in_history = 1 and author_id is not null order by author_id limit ${lit(1_000)}`
  return db
    .selectFrom('session')
    .selectAll()
    .select([
      sql<string | null>`(select ${jsonRow(RUN_COLUMNS)} from run where session_id = ${p.id} order by number desc limit 1)`.as('run_row'),
      jsonRows(OPEN_COLUMNS, open).as('open_rows'),
      jsonRows(QUEUED_COLUMNS, queued).as('queued_rows'),
      jsonRows(['author_id'], authors).as('author_ids'),
      // Whether anybody at all is disabled is found by an index, in a fifth of the time of the rest.
      sql<number>`(select case when exists (select 1 from principal where disabled_at is not null) then (select count(*) from (
          select owner_id as id union select author_id from (${authors}) as author
          union select author_id from (${queued}) as waiting where author_id is not null
        ) as behind join principal on principal.id = behind.id
          join principal as person on person.id = coalesce(principal.person_id, principal.id)
          where person.disabled_at is not null) else 0 end)`.as('has_disabled'),
      isThere(sql`select 1 from action where session_id = ${p.id} and state = 'declined'`).as('has_declined'),
      isThere(sql`select 1 from action_grant where revoked_at is null`).as('has_grants'),
      isThere(sql`select 1 from action where session_id = ${p.id} and reusable_until is not null`).as('has_reusable'),
    ])
    .where('id', '=', p.id)
})

/** Loads a session with everything that its next step depends on, to read it. Undefined when there is no such session. */
export function* loadSession(id: string): Tx<SessionState | undefined> {
  return (yield* recall((memory) => memory.peek(id))) ?? (yield* readSession(id))
}

/** The same for the transaction that writes to the session: the process remembers it again when {@link keepSession} is called. */
export function* takeSession(id: string): Tx<SessionState | undefined> {
  const taken = yield* recall((memory) => memory.take(id))
  if (taken) return taken
  const read = yield* readSession(id)
  return read && ((yield* recall((memory) => memory.recognize(read))) ?? read)
}

/**
 * Opens the session of an action together with the action, where this process knows which one that is: the transaction then has both, and
 * the answers to `soon`, in one round trip.
 */
export function* openAhead(actionId: string, soon: readonly Tx<unknown>[]): Tx<void> {
  const sessionId = yield* recall((memory) => memory.sessionOf(actionId))
  if (sessionId === undefined) return
  yield* lockUnderRights(sessionId)
  yield* ahead(findAction.first({ id: actionId }), ...soon, findState.first({ id: sessionId }))
}

/** Lets the process remember a session as this transaction leaves it. */
export function* keepSession(state: SessionState): Tx<void> {
  yield* recall((memory) => memory.keep(state))
}

/** Returns the row of a session, remembered or not. */
export function* currentSession(id: string): Tx<SessionRow | undefined> {
  return (yield* recall((memory) => memory.peek(id)))?.session ?? (yield* findSession.first({ id }))
}

type HistoryPlace = { session_id: string; run_id: string; steps: number; after: number }

/** The messages of a session for the model, after place `after`, in order. Undefined when the run is not at this step or has ended. */
export function* historyAtStep(place: HistoryPlace): Tx<MessageRow[] | undefined> {
  const { session_id, run_id, steps, after } = place
  const state = yield* recall((memory) => memory.peek(session_id))
  if (state && state.known.history.after <= after) {
    const { run } = state
    const isThere = run?.id === run_id && run.state === 'open' && run.steps === steps
    return isThere ? historyAfter(state, after) : undefined
  }
  const rows = yield* messagesAtStep.all(place)
  return rows.length === 0 ? undefined : rows.filter((row) => row.seq !== null)
}

/** The messages of the model's history after a place; undefined where not all of them are known. */
export const historyAfter = ({ known: { history } }: SessionState, after: number): MessageRow[] | undefined =>
  history.after <= after ? history.rows.filter(({ seq }) => seq > after) : undefined

/** Returns an action, which may be open and remembered with its session. */
export function* currentAction(id: string): Tx<ActionRow | undefined> {
  return (yield* recall((memory) => memory.action(id))) ?? (yield* findAction.first({ id }))
}

/** Reads a session from its rows, in one query. */
export function* readSession(id: string): Tx<SessionState | undefined> {
  const found = yield* findState.first({ id })
  if (!found) return undefined
  return {
    session: sessionOf(found),
    run: found.run_row === null ? undefined : readRun(found.run_row),
    open: readList<OpenRow>(found.open_rows).map(([id, state, run_id, executor, due_at]) => ({ id, state, run_id, executor, due_at })),
    queued: readList<QueuedRow>(found.queued_rows).map(([seq, run_id, author_id]) => ({ seq, run_id, author_id })),
    authors: readList<[string]>(found.author_ids).map(([author]) => author),
    hasDisabled: found.has_disabled > 0,
    hasDeclined: found.has_declined > 0,
    hasGrants: found.has_grants > 0,
    hasReusable: found.has_reusable > 0,
    known: { actions: NO_ACTIONS, history: { after: found.last_seq, rows: [] }, mayHaveDeltas: true },
  }
}

type OpenRow = [OpenAction['id'], OpenAction['state'], OpenAction['run_id'], OpenAction['executor'], OpenAction['due_at']]
type QueuedRow = [number, string | null, string | null]

/** Most lists are empty. */
const readList = <T>(json: string): readonly T[] => (json === '[]' ? [] : JSON.parse(json))

// Field by field: with a rest or `Object.fromEntries`, this took 15 µs of 30.
const sessionOf = (row: StateRow): SessionRow => ({
  id: row.id,
  agent: row.agent,
  title: row.title,
  status: row.status,
  owner_id: row.owner_id,
  archived_at: row.archived_at,
  archived_seq: row.archived_seq,
  deleted_at: row.deleted_at,
  last_seq: row.last_seq,
  last_run: row.last_run,
  audit_seq: row.audit_seq,
  audit_hash: row.audit_hash,
  audit_place: row.audit_place,
  created_at: row.created_at,
  updated_at: row.updated_at,
})

function readRun(json: string): RunRow {
  const list = JSON.parse(json)
  return {
    session_id: list[0],
    number: list[1],
    id: list[2],
    state: list[3],
    steps: list[4],
    input_tokens: list[5],
    cached_input_tokens: list[6],
    output_tokens: list[7],
    cache_write_tokens: list[8],
    estimated_steps: list[9],
    created_at: list[10],
    updated_at: list[11],
  }
}
