import { hasEnded } from '@countersign/core'
import { sql } from 'kysely'
import { ask, lit, lockKey, question, type Tx } from '../query.ts'
import type { ActionRow } from './action-rows.ts'
import { deleteRequest } from './gateway-requests.ts'
import { NOT_ENDED } from './state-in.ts'
import { forgetEarlierSecrets } from './webhooks.ts'

/** Rows that one transaction examines. A batch takes 2–5 ms on the embedded database, which blocks other writes. */
const BATCH_ROWS = 200

/** The result of one batch. */
export interface Batch {
  /** Number of deleted rows. */
  deleted: number
  /** True when the batch was full: there may be more. */
  isFull: boolean
}

/** Deletes one batch of a table's rows that are no longer needed. */
export type DeleteBatch = (nowMs: number, limits?: RetentionLimits) => Tx<Batch>

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS

/** How long rows are kept that only serve a request, a sign-in or a wake-up: milliseconds. */
export interface RetentionLimits {
  /**
   * Answers to requests with an `Idempotency-Key`. Clients repeat a request within minutes, and a deployment or a night may lie in between.
   */
  answersMs: number
  /** Results that an MCP client may still fetch, and actions that a client may name by its own key, after the action was settled. */
  gatewayCallsMs: number
  /** Usage of single model calls. Statistics do not reach back further. */
  modelCallsMs: number
  /** Console sessions after their end, for an operator who examines the database after an incident. */
  endedSessionsMs: number
  /** Used sign-ins. The state of a sign-in is valid for 10 minutes; a used one is kept for longer than clocks may be wrong. */
  usedSignInsMs: number
  /** Jobs of Postgres that failed on each of their attempts, for an operator who looks for the reason. */
  failedJobsMs: number
  /** Deliveries to webhooks after they were delivered or given up. */
  deliveriesMs: number
}

export const DEFAULT_RETENTION: RetentionLimits = {
  answersMs: DAY_MS,
  gatewayCallsMs: 30 * DAY_MS,
  // Statistics reach back a year from any day within the last month.
  modelCallsMs: 400 * DAY_MS,
  endedSessionsMs: DAY_MS,
  usedSignInsMs: DAY_MS,
  failedJobsMs: 7 * DAY_MS,
  deliveriesMs: 30 * DAY_MS,
}

/** Runs one process at a time: two that delete the same rows in different order would wait for each other. */
const alone = (): Tx<void> => lockKey('retention')

const batchOf = (deleted: number): Batch => ({ deleted, isFull: deleted === BATCH_ROWS })

const deleteAnswersOfADay = question<{ before: number }>((db, p) =>
  db.deleteFrom('once').where(({ eb, refTuple, selectFrom }) =>
    eb(
      refTuple('scope', 'key'),
      'in',
      selectFrom('once as old')
        .select(['old.scope', 'old.key'])
        .where('old.kept_for', '=', lit('day'))
        .where('old.created_at', '<', p.before)
        // The gateway finds the action of a call by this answer until the call names its action.
        .where(sql<boolean>`not exists (select 1 from gateway_call where action_id is null and once_key = old.key)`)
        .orderBy('old.created_at')
        .limit(lit(BATCH_ROWS))
        .$asTuple('scope', 'key'),
    ),
  ),
)

/** Answers to requests with an `Idempotency-Key`, by default a day after they were given. */
export function* deleteAnswers(nowMs: number, { answersMs }: RetentionLimits = DEFAULT_RETENTION): Tx<Batch> {
  yield* alone()
  return batchOf(yield* deleteAnswersOfADay.change({ before: nowMs - answersMs }))
}

interface OldRow {
  state: ActionRow['state'] | null
  updated_at: number | null
}

/**
 * Returns the creation time to assign to a row so that it is checked again at the right time; undefined when it can be deleted. Open
 * actions and unknown outcomes are checked again after the full period.
 */
function keptFrom({ state, updated_at }: OldRow, nowMs: number, keptMs: number): number | undefined {
  if (state === null || updated_at === null) return undefined
  if (!hasEnded(state)) return nowMs
  return Number(updated_at) < nowMs - keptMs ? undefined : Number(updated_at)
}

const oldAnswersOfActions = question<{ before: number }, { scope: string; key: string; answer: string }>((db, p) =>
  db
    .selectFrom('once')
    .select(['scope', 'key', 'answer'])
    .where('kept_for', '=', lit('action'))
    .where('created_at', '<', p.before)
    .orderBy('created_at')
    .limit(lit(BATCH_ROWS)),
)
const stateOf = question<{ id: string }, Pick<ActionRow, 'state' | 'updated_at'>>((db, p) =>
  db.selectFrom('action').select(['state', 'updated_at']).where('id', '=', p.id),
)
const deleteAnswer = question<{ scope: string; key: string }>((db, p) =>
  db.deleteFrom('once').where('scope', '=', p.scope).where('key', '=', p.key),
)
const keepAnswerFrom = question<{ scope: string; key: string; from: number }>((db, p) =>
  db.updateTable('once').set({ created_at: p.from }).where('scope', '=', p.scope).where('key', '=', p.key),
)

/** The actions of proposals and MCP calls with a client's own key, by default 30 days after the action was settled. */
export function* deleteAnswersOfActions(nowMs: number, { gatewayCallsMs }: RetentionLimits = DEFAULT_RETENTION): Tx<Batch> {
  yield* alone()
  const rows = yield* oldAnswersOfActions.all({ before: nowMs - gatewayCallsMs })
  let deleted = 0
  for (const { scope, key, answer } of rows) {
    const action = yield* stateOf.first({ id: String((JSON.parse(answer) as { id?: unknown } | null)?.id) })
    const from = keptFrom(action ?? { state: null, updated_at: null }, nowMs, gatewayCallsMs)
    if (from === undefined) {
      yield* deleteAnswer.run({ scope, key })
      deleted++
    } else yield* keepAnswerFrom.run({ scope, key, from })
  }
  return { deleted, isFull: rows.length === BATCH_ROWS }
}

const oldCalls = question<{ before: number }, OldRow & { call: string }>((db, p) =>
  db
    .selectFrom('gateway_call')
    .leftJoin('action', 'action.id', 'gateway_call.action_id')
    .select(['gateway_call.call', 'action.state', 'action.updated_at'])
    .where('gateway_call.created_at', '<', p.before)
    .orderBy('gateway_call.created_at')
    .limit(lit(BATCH_ROWS)),
)
const keepCallFrom = question<{ call: string; from: number }>((db, p) =>
  db.updateTable('gateway_call').set({ created_at: p.from }).where('call', '=', p.call),
)

/** MCP calls whose result was never fetched, by default 30 days after their action was settled. */
export function* deleteGatewayCalls(nowMs: number, { gatewayCallsMs }: RetentionLimits = DEFAULT_RETENTION): Tx<Batch> {
  yield* alone()
  const rows = yield* oldCalls.all({ before: nowMs - gatewayCallsMs })
  let deleted = 0
  for (const { call, ...action } of rows) {
    const from = keptFrom(action, nowMs, gatewayCallsMs)
    if (from === undefined) {
      yield* deleteRequest.run({ call })
      deleted++
    } else yield* keepCallFrom.run({ call, from })
  }
  return { deleted, isFull: rows.length === BATCH_ROWS }
}

const deleteOldModelCalls = question<{ before: number }>((db, p) =>
  db
    .deleteFrom('model_call')
    .where(({ eb, refTuple, selectFrom }) =>
      eb(
        refTuple('created_at', 'session_id', 'run_id', 'step'),
        'in',
        selectFrom('model_call as old')
          .select(['old.created_at', 'old.session_id', 'old.run_id', 'old.step'])
          .where('old.created_at', '<', p.before)
          .orderBy('old.created_at')
          .limit(lit(BATCH_ROWS))
          .$asTuple('created_at', 'session_id', 'run_id', 'step'),
      ),
    ),
)

/** Usage of single model calls, by default after 400 days. */
export function* deleteModelCalls(nowMs: number, { modelCallsMs }: RetentionLimits = DEFAULT_RETENTION): Tx<Batch> {
  yield* alone()
  return batchOf(yield* deleteOldModelCalls.change({ before: nowMs - modelCallsMs }))
}

const deleteOldSignIns = question<{ before: number }>((db, p) =>
  db
    .deleteFrom('used_sign_in')
    .where('state_hash', 'in', (eb) =>
      eb.selectFrom('used_sign_in as old').select('old.state_hash').where('old.used_at', '<', p.before).limit(lit(BATCH_ROWS)),
    ),
)

/** Used answers of the sign-in service, by default after a day. */
export function* deleteUsedSignIns(nowMs: number, { usedSignInsMs }: RetentionLimits = DEFAULT_RETENTION): Tx<Batch> {
  yield* alone()
  return batchOf(yield* deleteOldSignIns.change({ before: nowMs - usedSignInsMs }))
}

const deleteOldSessions = question<{ ended: number; seen: number; began: number; cookie: number }>((db, p) =>
  db.deleteFrom('console_session').where('id', 'in', (eb) =>
    eb
      .selectFrom('console_session as old')
      .select('old.id')
      .where((or) =>
        or.or([
          or('old.ended_at', '<', p.ended),
          or.and([
            or.or([or('old.seen_at', '<', p.seen), or('old.created_at', '<', p.began)]),
            // The next person who signs in at the browser sends its cookie, by which the notifications of this one end.
            or.or([
              or('old.rotated_at', '<', p.cookie),
              or.not(or.exists(or.selectFrom('push_subscription as s').select('s.id').whereRef('s.console_session_id', '=', 'old.id'))),
            ]),
          ]),
        ]),
      )
      .limit(lit(BATCH_ROWS)),
  ),
)

/** Deletes subscriptions whose console session is gone: no later sign-in at their browser could end them. */
const deleteLeftSubscriptions = question<Record<string, never>>((db) =>
  db
    .deleteFrom('push_subscription')
    .where((eb) =>
      eb.not(eb.exists(eb.selectFrom('console_session as s').select('s.id').whereRef('s.id', '=', 'push_subscription.console_session_id'))),
    ),
)

/**
 * Deletes console sessions, by default a day after they were ended or expired. A session whose browser is notified is kept as long as
 * the browser keeps its cookie, and its notifications end with it.
 */
export const deleteConsoleSessions = ({ idleMs, maxMs }: { idleMs: number; maxMs: number }): DeleteBatch =>
  function* (nowMs, { endedSessionsMs } = DEFAULT_RETENTION) {
    yield* alone()
    const ended = nowMs - endedSessionsMs
    const limits = { ended, seen: ended - idleMs, began: ended - maxMs, cookie: nowMs - maxMs }
    const batch = batchOf(yield* deleteOldSessions.change(limits))
    yield* deleteLeftSubscriptions.run({})
    return batch
  }

const deleteOldTokens = question<{ before: number }>((db, p) =>
  db
    .deleteFrom('embed_token')
    .where('id', 'in', (eb) =>
      eb.selectFrom('embed_token as old').select('old.id').where('old.expires_at', '<', p.before).limit(lit(BATCH_ROWS)),
    ),
)

/** Expired embed tokens. */
export function* deleteEmbedTokens(nowMs: number): Tx<Batch> {
  yield* alone()
  return batchOf(yield* deleteOldTokens.change({ before: nowMs }))
}

const deleteOldSnoozes = question<{ now: number }>((db, p) =>
  db
    .deleteFrom('snooze')
    .where(({ eb, refTuple, selectFrom }) =>
      eb(
        refTuple('principal_id', 'action_id'),
        'in',
        selectFrom('snooze as old')
          .select(['old.principal_id', 'old.action_id'])
          .where('old.until', '<=', p.now)
          .orderBy('old.until')
          .limit(lit(BATCH_ROWS))
          .$asTuple('principal_id', 'action_id'),
      ),
    ),
)

/** Snoozes that are over. */
export function* deleteSnoozes(nowMs: number): Tx<Batch> {
  yield* alone()
  return batchOf(yield* deleteOldSnoozes.change({ now: nowMs }))
}

const deleteOldDifferences = question<Record<never, never>>((db) =>
  db.deleteFrom('policy_difference').where(({ eb, refTuple, selectFrom }) =>
    eb(
      refTuple('shadow', 'action_id'),
      'in',
      selectFrom('policy_difference as old')
        .innerJoin('policy_version', 'policy_version.number', 'old.shadow')
        .select(['old.shadow', 'old.action_id'])
        .where((is) => is.or([is('in_use', 'is', null), is('in_use', '!=', lit('shadow'))]))
        .limit(lit(BATCH_ROWS))
        .$asTuple('shadow', 'action_id'),
    ),
  ),
)

/** Differences of policy versions that are no longer on trial: only the report of the one on trial reads them. */
export function* deletePolicyDifferences(): Tx<Batch> {
  yield* alone()
  return batchOf(yield* deleteOldDifferences.change({}))
}

const deleteOldDeliveries = question<{ before: number }>((db, p) =>
  db.deleteFrom('webhook_delivery').where(({ eb, refTuple, selectFrom }) =>
    eb(
      refTuple('webhook_id', 'id'),
      'in',
      selectFrom('webhook_delivery as old')
        .select(['old.webhook_id', 'old.id'])
        .where('old.ended_at', '<', p.before)
        // These rows tell what a browser shows of an action: without them, its notification would stay after the end, or come again.
        .where(
          sql<boolean>`(old.channel <> 'push' or not exists (
              select 1 from action where action.id = old.action_id and (action.state in ${NOT_ENDED} or action.updated_at >= ${p.before})
            ))`,
        )
        .orderBy('old.ended_at')
        .limit(lit(BATCH_ROWS))
        .$asTuple('webhook_id', 'id'),
    ),
  ),
)

/**
 * Deliveries to webhooks, by default 30 days after they were delivered or given up; messages to browsers not before their action was settled
 * for as long. Also deletes secrets that no longer sign.
 */
export function* deleteDeliveries(nowMs: number, { deliveriesMs }: RetentionLimits = DEFAULT_RETENTION): Tx<Batch> {
  yield* alone()
  yield* forgetEarlierSecrets.run({ before: nowMs })
  return batchOf(yield* deleteOldDeliveries.change({ before: nowMs - deliveriesMs }))
}

/** Jobs of Postgres that failed on each of their attempts. The rows of sessions and actions are the truth: no work is lost with a job. */
export function* deleteFailedJobs(nowMs: number, { failedJobsMs }: RetentionLimits = DEFAULT_RETENTION): Tx<Batch> {
  yield* alone()
  const rows = yield* ask((db, { hasJobs }) => ({
    compile: () =>
      (hasJobs
        ? sql<{ id: string }>`delete from graphile_worker._private_jobs where id in (
            select id from graphile_worker._private_jobs
            where not is_available and attempts >= max_attempts and locked_at is null and run_at < to_timestamp(${nowMs - failedJobsMs} / 1000.0)
            limit ${lit(BATCH_ROWS)}) returning id`
        : sql<{ id: string }>`select 1 as id where false`
      ).compile(db),
  }))
  return batchOf(rows.length)
}
