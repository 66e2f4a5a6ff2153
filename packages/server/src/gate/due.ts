import { checkpoint } from '@countersign/toolkit/internal'
import { type ActionRow, actions, type Tx } from '../store/index.ts'
import type { GateContext, SessionContext } from './context.ts'
import { escalateWaiting } from './decide/escalate.ts'
import { expireWaiting, remindWaiting } from './decide/expire.ts'
import { stopAfterExpiry } from './decide/stop-run.ts'
import { checkAgain, takeCheck } from './execute/check-again.ts'
import { endHold } from './execute/client-result.ts'
import type { GateDeps } from './gate.ts'
import { writeSession } from './session-writer.ts'

/** Actions looked up together. */
const BATCH = 200
/** Transactions under way at a time: a decision that arrives among 100,000 expiries waits behind so many, and on SQLite so many share a commit. */
const WORKERS = 32
/** How long after a fault the work is tried again. */
const RETRY_MS = 5_000

/**
 * Does what time calls for: waiting actions are reminded of or expire, grace periods and the holds of clients end, unknown outcomes are checked. Every process may do it at any time, also
 * too early: each thing is one guarded update, judged by the database's clock.
 * @returns In how many ms there is something to do again; undefined when nothing is waiting for its time.
 */
export async function doWhatIsDue(deps: GateDeps, signal: AbortSignal): Promise<number | undefined> {
  const { store, clock } = deps
  const unmoved = new Set<string>()
  for (;;) {
    const nowMs = clock.nowMs()
    const found = await store.read(() => actions.dueActions.all({ now: nowMs, limit: BATCH + unmoved.size }))
    const due = found.filter(({ id }) => !unmoved.has(id))
    if (due.length === 0 || signal.aborted) {
      const next = await store.read(() => actions.nextDue.first({ now: clock.nowMs() }))
      return next && Math.max(next.waitMs, found.length > 0 ? RETRY_MS : 0)
    }
    for (const { id } of due) unmoved.add(id)
    // The end of a hold is a transaction of its own, as any end of an attempt is; so is a check.
    const together = Map.groupBy(due, (row) => (isAlone(row) ? row.id : (row.session_id ?? row.id)))
    const groups = together.values()
    // Every worker takes the next ones from the same iterator.
    const worker = async () => {
      for (const rows of groups) for (const id of await moveTogether(deps, rows, nowMs)) unmoved.delete(id)
    }
    await Promise.all(Array.from({ length: WORKERS }, worker))
    checkpoint('timer.batch_done')
  }
}

const isAlone = ({ state }: DueRow): boolean => state === 'executing' || state === 'outcome_unknown'

type DueRow = Pick<ActionRow, 'id' | 'session_id' | 'state' | 'due_at'>

/**
 * Moves the due actions of one session, or one that has none, or ends one hold, and answers which of them moved. A fault is logged and
 * holds up no others.
 */
async function moveTogether(deps: GateDeps, rows: readonly DueRow[], nowMs: number): Promise<string[]> {
  try {
    checkpoint('timer.before_store')
    const [first] = rows
    if (first?.state === 'outcome_unknown') {
      const check = await deps.store.transact((outbox) => takeCheck(deps, { outbox, nowMs, caller: undefined }, first))
      checkpoint('timer.after_store')
      if (check) deps.background(deps.limiter.run(check.row.tool, () => checkAgain(deps, check)))
      return check ? [first.id] : []
    }
    const moved = await deps.store.transact((outbox) => moveDue(deps, { outbox, nowMs, caller: undefined }, rows))
    checkpoint('timer.after_store')
    return moved
  } catch (error) {
    deps.log.error({ actionIds: rows.map(({ id }) => id), error }, 'timer.failed')
    return []
  }
}

function* moveDue(deps: GateDeps, context: GateContext, rows: readonly DueRow[]): Tx<string[]> {
  const [first] = rows
  if (first?.state === 'executing') return (yield* endHold(deps, context, first)) ? [first.id] : []
  const sessionId = first?.session_id ?? null
  // An action without a session needs no lock: one guarded update moves it.
  const session = sessionId === null ? undefined : yield* writeSession(context.outbox, sessionId, context.nowMs)
  const opened = { ...context, session }
  const moved: string[] = []
  let isSettled = false
  for (const row of rows) {
    const { id } = row
    if (yield* endGrace(opened, id)) {
      moved.push(id)
      continue
    }
    const expired = yield* expireWaiting(opened, id)
    if (expired) {
      isSettled = true
      moved.push(id)
      yield* stopAfterExpiry(deps, opened, expired)
      continue
    }
    const isEscalated = yield* escalateWaiting(opened, id)
    const isReminded = yield* remindWaiting(opened, row)
    if (isEscalated || isReminded) moved.push(id)
  }
  // A reminder or an escalation changes nothing that the status of the session depends on.
  if (session && moved.length > 0) yield* isSettled ? session.finish() : session.save()
  return moved
}

/** Puts an approved action up whose grace period is over. False when it is too early, or the approval was taken back. */
function* endGrace({ outbox, session, nowMs }: SessionContext, id: string): Tx<boolean> {
  if (!(yield* actions.endGrace.change({ id, now: nowMs }))) return false
  const row = yield* actions.findAction.first({ id })
  if (row) session?.noteAction(row)
  outbox.actions.add(id)
  return true
}
