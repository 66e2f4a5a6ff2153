import { OPEN_STATES } from '@countersign/core'
import { sql } from 'kysely'
import { lit, question, type Tx } from '../query.ts'
import { listOfStates } from './state-in.ts'

/** How many rows one read takes at most. A full page is followed by another one after its last row. */
const DUE_PAGE = 500

/** An approved action that the server executes, and whose grace period is over by the clock. */
interface ApprovedRow {
  id: string
  session_id: string | null
  updated_at: number
  /** 1 while no timer has ended the grace period. */
  in_grace: number
  /** Executing actions of its session. */
  executing: number | null
  /** When an action of its session last started or ended. */
  moved_at: number | null
  /** Approved actions of its session that come first. */
  earlier: number
}

const OPEN = listOfStates(OPEN_STATES)

// The states appear twice: once to match a partial index, and once as the actual condition.
const approvedWithTurn = question<{ after: string; per_session: number; now: number }, ApprovedRow>((db, p) => ({
  compile: () =>
    sql<ApprovedRow>`with page as (
        select id, session_id, case when starts_at > updated_at then starts_at else updated_at end as updated_at,
          case when due_at is null then 0 else 1 end as in_grace from action
        where state in ('approved', 'executing') and state = 'approved' and executor = 'server'
          and (due_at is null or due_at <= ${p.now}) and id > ${p.after}
        order by id limit ${lit(DUE_PAGE)}
      ), busy as (
        select session_id, sum(case when state = 'executing' and executor = 'server' then 1 else 0 end) as executing,
          max(case when state not in ('proposed', 'approved') then updated_at end) as moved_at
        from action where session_id in (select session_id from page) group by session_id
      )
      select page.id, page.session_id, page.updated_at, page.in_grace, busy.executing, busy.moved_at, (
          select count(*) from (
            select 1 as one from action as other where other.session_id = page.session_id and other.id < page.id
            and other.state in ${OPEN} and other.state = 'approved' and other.executor = 'server'
            and other.due_at is null limit ${p.per_session}
          ) as ahead
        ) as earlier
      from page left join busy on busy.session_id = page.session_id order by page.id`.compile(db),
}))

interface WorkingRow {
  id: string
  updated_at: number
  /** 1 when the rows require a model call or a run. */
  calls: number
}

const sessionsAtWork = question<{ after: string }, WorkingRow>((db, p) => ({
  compile: () =>
    sql<WorkingRow>`with page as (
        select id from (select id from session where status = 'active' and id > ${p.after} order by id limit ${lit(DUE_PAGE)}) as active
        union
        select session_id from (
          select session_id from message where queued = 1 and session_id > ${p.after} order by session_id limit ${lit(DUE_PAGE)}
        ) as queue
        order by 1 limit ${lit(DUE_PAGE)}
      )
      select session.id, session.updated_at, case when (
          exists (select 1 from run where run.session_id = session.id and run.state = 'open')
          or exists (select 1 from message where message.session_id = session.id and message.queued = 1)
        ) and not exists (select 1 from action where action.session_id = session.id and action.state in ${OPEN})
        then 1 else 0 end as calls
      from page join session on session.id = page.id order by session.id`.compile(db),
}))

/** A session or action whose rows require work, and since when. */
export interface DueRow {
  id: string
  sinceMs: number
}

export interface DuePage<Row extends DueRow = DueRow> {
  due: Row[]
  /** Where the next page begins; empty for the first. */
  next: string
}

const nextOf = (rows: readonly { id: string }[]) => (rows.length < DUE_PAGE ? '' : (rows.at(-1)?.id ?? ''))

export interface DueActionRow extends DueRow {
  /** True when the timer that ends its grace period is late: until then it has no job. */
  isInGrace: boolean
}

/** Approved actions whose turn it is: an action is not due while its session has `perSession` actions executing. */
export function* dueActions(after: string, perSession: number, nowMs: number): Tx<DuePage<DueActionRow>> {
  const rows = yield* approvedWithTurn.all({ after, per_session: perSession, now: nowMs })
  const due = rows
    .filter(({ executing, earlier }) => Number(executing ?? 0) + Number(earlier) < perSession)
    .map(({ id, updated_at, moved_at, in_grace }) => ({
      id,
      sinceMs: Math.max(Number(updated_at), Number(moved_at ?? 0)),
      isInGrace: Number(in_grace) === 1,
    }))
  return { due, next: nextOf(rows) }
}

/** Sessions whose rows require a model call or a run. */
export function* dueSessions(after: string): Tx<DuePage> {
  const rows = yield* sessionsAtWork.all({ after })
  return {
    due: rows.filter(({ calls }) => Number(calls) === 1).map(({ id, updated_at }) => ({ id, sinceMs: Number(updated_at) })),
    next: nextOf(rows),
  }
}

const MAX_COUNTED = 100_000

interface StateCounts {
  proposed: number
  approved: number
  executing: number
  outcome_unknown: number
}

const counted = (where: ReturnType<typeof sql>) =>
  sql`(select count(*) from (select 1 as one from action where ${where} limit ${lit(MAX_COUNTED)}) as found)`

const countStates = question<Record<string, never>, StateCounts>((db) => ({
  compile: () =>
    sql<StateCounts>`select ${counted(sql`state = 'proposed'`)} as proposed,
      ${counted(sql`state in ('approved', 'executing') and state = 'approved'`)} as approved,
      ${counted(sql`state in ('approved', 'executing') and state = 'executing'`)} as executing,
      ${counted(sql`state = 'outcome_unknown'`)} as outcome_unknown`.compile(db),
}))

/** Counts the unsettled actions, by state. Each count ends at 100,000, so that it stays cheap. */
export function* countOpenStates(): Tx<StateCounts> {
  const row = yield* countStates.first({})
  const { proposed = 0, approved = 0, executing = 0, outcome_unknown = 0 } = row ?? {}
  return { proposed: Number(proposed), approved: Number(approved), executing: Number(executing), outcome_unknown: Number(outcome_unknown) }
}

/** Age limits of {@link countByAge}, as the first ids that are younger. */
interface AgeEnds {
  minutes: string
  hour: string
  day: string
}

interface AgeCounts {
  all: number
  minutes: number
  hour: number
  day: number
  oldest: number | null
}

const waitingBefore = (id: ReturnType<typeof sql>) => counted(sql`state = 'proposed' and id < ${id}`)

const countAges = question<AgeEnds & Record<string, string>, AgeCounts>((db, p) => ({
  compile: () =>
    sql<AgeCounts>`select ${counted(sql`state = 'proposed'`)} as "all", ${waitingBefore(sql`${p.minutes}`)} as minutes,
      ${waitingBefore(sql`${p.hour}`)} as hour, ${waitingBefore(sql`${p.day}`)} as day,
      (select created_at from action where state = 'proposed' order by id limit 1) as oldest`.compile(db),
}))

/**
 * Counts the actions that wait for people, in all and from before these ids, each up to 100,000; and returns when the oldest was proposed,
 * in epoch ms.
 */
export function* countByAge(ends: AgeEnds): Tx<AgeCounts> {
  const row = yield* countAges.first({ ...ends })
  const { all = 0, minutes = 0, hour = 0, day = 0, oldest = null } = row ?? {}
  return {
    all: Number(all),
    minutes: Number(minutes),
    hour: Number(hour),
    day: Number(day),
    oldest: oldest === null ? null : Number(oldest),
  }
}
