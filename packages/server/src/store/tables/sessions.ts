import type { SessionStatus } from '@countersign/core'
import { ask, lit, question, type Tx } from '../query.ts'
import { insertInto } from './insert.ts'
import type { Schema } from './schema.ts'
import type { RunRow, SessionRow } from './session-rows.ts'
import { type Reader, sessionIsVisible } from './visibility.ts'

export const insertSession = question<{
  id: string
  agent: string
  title: string
  owner_id: string
  now: number
}>(
  (db, p) =>
    db.insertInto('session').values({
      id: p.id,
      agent: p.agent,
      title: p.title,
      status: 'idle',
      owner_id: p.owner_id,
      archived_at: null,
      archived_seq: 0,
      deleted_at: null,
      last_seq: 0,
      last_run: 0,
      audit_seq: 0,
      audit_hash: '',
      audit_place: null,
      created_at: p.now,
      updated_at: p.now,
    } satisfies Schema['session']),
  // Nothing is remembered of a new session.
  { isNoted: true },
)

export const findSession = question<{ id: string }, SessionRow>((db, p) => db.selectFrom('session').selectAll().where('id', '=', p.id))

type Counters = {
  id: string
  status: SessionStatus
  last_seq: number
  last_run: number
  title: string
  audit_seq: number
  audit_hash: string
  audit_place: number | null
  now: number
}

const sessionUpdate = (withStatus: boolean) =>
  question<Counters>(
    (db, p) =>
      db
        .updateTable('session')
        .set({
          ...(withStatus && { status: p.status }),
          last_seq: p.last_seq,
          last_run: p.last_run,
          title: p.title,
          audit_seq: p.audit_seq,
          audit_hash: p.audit_hash,
          audit_place: p.audit_place,
          updated_at: p.now,
        })
        .where('id', '=', p.id),
    { isNoted: true },
  )

/** Stores the changes of one transaction to a session's counters and status. */
export const updateSession = sessionUpdate(true)

/** The same where the status stays as it is: then its index is not written. */
export const updateCounters = sessionUpdate(false)

export interface SessionPage {
  /** The reader; undefined for readers who see everything. */
  reader: Reader | undefined
  /** Only these; empty for all. */
  statuses: readonly SessionStatus[]
  /** Only ids before this one. */
  before: string | undefined
  /** Only this id and later ones. */
  from?: string | undefined
  limit: number
}

/** The id of the session that is `count` before the id `before`; undefined when there are not so many. */
export const idBefore = question<{ before: string; count: number }, { id: string }>((db, p) =>
  db.selectFrom('session').select('id').where('id', '<', p.before).orderBy('id', 'desc').offset(p.count).limit(lit(1)),
)

/** Sessions that are not deleted, newest first. */
export const listSessions = (page: SessionPage): Tx<SessionRow[]> =>
  ask((db, dialect) => {
    let query = db.selectFrom('session').selectAll().where('deleted_at', 'is', null).orderBy('id', 'desc').limit(page.limit)
    if (page.statuses.length > 0) query = query.where('status', 'in', page.statuses)
    if (page.reader !== undefined) query = query.where(sessionIsVisible(page.reader, 'session', dialect))
    if (page.before !== undefined) query = query.where('id', '<', page.before)
    if (page.from !== undefined) query = query.where('id', '>=', page.from)
    return query
  })

type NewRun = { id: string; session_id: string; number: number; now: number }

/** A run as it begins. */
export const newRun = ({ id, session_id, number, now }: NewRun): RunRow => ({
  session_id,
  number,
  id,
  state: 'open',
  steps: 0,
  input_tokens: 0,
  cached_input_tokens: 0,
  output_tokens: 0,
  cache_write_tokens: 0,
  estimated_steps: 0,
  created_at: now,
  updated_at: now,
})

/** Stores a run as it begins, or as it is at the end of the transaction that began it. */
export const insertRun = insertInto(
  'run',
  {
    session_id: true,
    number: true,
    id: true,
    state: true,
    steps: true,
    input_tokens: true,
    cached_input_tokens: true,
    output_tokens: true,
    cache_write_tokens: true,
    estimated_steps: true,
    created_at: true,
    updated_at: true,
  },
  { isNoted: true },
)

/** The tokens of all runs of a session; null before its first run. */
export const tokensOf = question<{ session_id: string }, { input: number | null; output: number | null }>((db, p) =>
  db
    .selectFrom('run')
    .select((eb) => [eb.fn.sum<number | null>('input_tokens').as('input'), eb.fn.sum<number | null>('output_tokens').as('output')])
    .where('session_id', '=', p.session_id),
)

/** The newest run of a session, open or ended. */
export const newestRun = question<{ session_id: string }, RunRow>((db, p) =>
  db.selectFrom('run').selectAll().where('session_id', '=', p.session_id).orderBy('number', 'desc').limit(lit(1)),
)

/** A run of a session, even if it is not the newest. */
export const findRun = question<{ session_id: string; id: string }, RunRow>((db, p) =>
  db.selectFrom('run').selectAll().where('session_id', '=', p.session_id).where('id', '=', p.id).limit(lit(1)),
)

/** The tokens of one step. */
export type StepColumns = Pick<RunRow, 'input_tokens' | 'cached_input_tokens' | 'output_tokens' | 'cache_write_tokens'> & {
  /** 1 when they are estimates. */
  estimated: number
}

/** A run after one more step. */
export const withStep = (run: RunRow, step: StepColumns, now: number): RunRow => ({
  ...run,
  steps: run.steps + 1,
  input_tokens: run.input_tokens + step.input_tokens,
  cached_input_tokens: run.cached_input_tokens + step.cached_input_tokens,
  output_tokens: run.output_tokens + step.output_tokens,
  cache_write_tokens: run.cache_write_tokens + step.cache_write_tokens,
  estimated_steps: run.estimated_steps + step.estimated,
  updated_at: now,
})

type CountedRun = Pick<RunRow, 'session_id' | 'id' | 'state' | 'input_tokens' | 'cached_input_tokens' | 'output_tokens'> &
  Pick<RunRow, 'cache_write_tokens' | 'estimated_steps' | 'updated_at'> & { steps: number; to_steps: number }

const countStep = (ends: boolean) =>
  question<CountedRun>(
    (db, p) =>
      db
        .updateTable('run')
        .set({
          ...(ends && { state: p.state }),
          steps: p.to_steps,
          input_tokens: p.input_tokens,
          cached_input_tokens: p.cached_input_tokens,
          output_tokens: p.output_tokens,
          cache_write_tokens: p.cache_write_tokens,
          estimated_steps: p.estimated_steps,
          updated_at: p.updated_at,
        })
        .where('session_id', '=', p.session_id)
        .where('state', '=', lit('open'))
        .where('id', '=', p.id)
        .where('steps', '=', p.steps),
    { isNoted: true },
  )

const countOpen = countStep(false)
const countEnded = countStep(true)

/** Stores what became of a session's open run. No row changes when another loop made its step, or the run has ended. */
export const updateRun = (before: RunRow, run: RunRow): Tx<void> =>
  (run.state === 'open' ? countOpen : countEnded).run({ ...run, steps: before.steps, to_steps: run.steps })

const activeSessions = question<Record<string, never>, { session_id: string }>((db) =>
  db.selectFrom('session').select('id as session_id').where('status', '=', lit('active')).limit(lit(1_000_000)),
)

const disabledPeople = question<Record<string, never>, { id: string }>((db) =>
  db.selectFrom('principal').select('id').where('kind', '=', lit('person')).where('disabled_at', 'is not', null).limit(lit(100_000)),
)

const sessionsWithQueue = question<Record<string, never>, { session_id: string }>((db) =>
  db.selectFrom('message').select('session_id').distinct().where('queued', '=', lit(1)).limit(lit(1_000_000)),
)

const openRunsOf = question<{ person_id: string }, { session_id: string }>((db, p) =>
  db
    .selectFrom('run')
    .innerJoin('session', 'session.id', 'run.session_id')
    .select('run.session_id')
    .where('run.state', '=', lit('open'))
    .where((eb) => {
      const theirs = eb.selectFrom('principal').select('principal.id').where('principal.person_id', '=', p.person_id)
      const wrote = eb
        .selectFrom('message')
        .select('message.id')
        .whereRef('message.session_id', '=', 'run.session_id')
        .whereRef('message.run_id', '=', 'run.id')
        .where('message.author_id', 'in', theirs)
      return eb.or([eb('session.owner_id', 'in', theirs), eb.exists(wrote)])
    })
    .orderBy('run.session_id')
    .limit(lit(1_000_000)),
)

const queuesWith = question<{ person_id: string }, { session_id: string }>((db, p) =>
  db
    .selectFrom('message')
    .innerJoin('session', 'session.id', 'message.session_id')
    .select('message.session_id')
    .distinct()
    .where('message.queued', '=', lit(1))
    .where((eb) => {
      const theirs = eb.selectFrom('principal').select('principal.id').where('principal.person_id', '=', p.person_id)
      return eb.or([eb('session.owner_id', 'in', theirs), eb('message.author_id', 'in', theirs)])
    })
    .orderBy('message.session_id')
    .limit(lit(1_000_000)),
)

/** Sessions with running or pending work for a person or one of their agents. */
export function* sessionsWithWorkOf(personId: string): Tx<string[]> {
  const rows = [...(yield* openRunsOf.all({ person_id: personId })), ...(yield* queuesWith.all({ person_id: personId }))]
  return [...new Set(rows.map((row) => row.session_id))]
}

/**
 * Returns the sessions whose rows require work, for a starting process: active ones, those with a queued message, and those of people who were
 * disabled meanwhile. A session that waits for people requires none, and there may be a million of them.
 */
export function* sessionsWithWork(): Tx<string[]> {
  const rows = [...(yield* activeSessions.all({})), ...(yield* sessionsWithQueue.all({}))]
  const found = new Set(rows.map((row) => row.session_id))
  for (const { id } of yield* disabledPeople.all({})) for (const sessionId of yield* sessionsWithWorkOf(id)) found.add(sessionId)
  return [...found]
}
