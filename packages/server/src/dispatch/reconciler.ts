import type { Logger } from 'pino'
import type { Clock } from '../clock.ts'
import { type DueActionRow, type DueRow, dueWork, type Store, together } from '../store/index.ts'
import type { Dispatch } from './dispatch.ts'
import { createOverdue, type Overdue } from './overdue.ts'

/** How often the due work is compared with the work in flight. */
const LOOK_MS = 3_000
/** The same while something is overdue, so that its end is reported soon. */
const LOOK_AGAIN_MS = 1_000
/** Work that became due within this time is about to begin. */
const GRACE_MS = 2_000
/** Work that has not begun this long after it became due raises an alarm. */
const OVERDUE_MS = 10_000

export interface ReconcilerWork {
  store: Store
  dispatch: Dispatch
  log: Logger
  /** How many actions of one session are executed concurrently. */
  executionsPerSession: number
  /** Returns since when this process tries to start an action that has its slot, epoch ms; undefined for any other action. */
  startingSinceMs(actionId: string): number | undefined
  /** Returns true for an action whose start was given up: it was reported, and no longer counts. */
  isGivenUp(actionId: string): boolean
  /** Returns false while the database does not answer: nothing is compared then. */
  isAble(): boolean
  /** Returns true while nothing is carried out, because the database looks like a copy: nothing is overdue then. */
  isHeld(): boolean
}

/**
 * Compares every few seconds the work that the rows require with the work in flight, enqueues what is missing, and raises an alarm about
 * work that has not begun 10 seconds after it became due. The rows are the truth; notifications of them may get lost.
 */
export interface Reconciler {
  readonly overdue: Overdue
  /** Sessions and actions that had no job and got one, since this process started. */
  readonly enqueued: number
  /** Jobs that were unlocked because the answer to their fetch was lost, since this process started. */
  readonly unlocked: number
  start(work: ReconcilerWork): void
  /** Stops comparing. */
  stop(): void
}

/** @param clock Decides what is late. @param after Calls back after a delay on this machine. */
export function createReconciler({ nowMs: readNowMs }: Pick<Clock, 'nowMs'>, after: Clock['after']): Reconciler {
  const actions = createOverdue()
  const sessions = createOverdue()
  let enqueued = 0
  let unlocked = 0
  let nextAction = ''
  let nextSession = ''
  /** When the database last did not answer: after that, work has the time that it needs to begin. */
  let unableMs = Number.NEGATIVE_INFINITY
  let isStopped = false
  let takeBack = () => {}

  async function look({ store, dispatch, log, executionsPerSession, ...work }: ReconcilerWork): Promise<void> {
    const [action, session] = await store.read(() =>
      together(dueWork.dueActions(nextAction, executionsPerSession, readNowMs()), dueWork.dueSessions(nextSession)),
    )
    const nowMs = readNowMs()
    const isLate = ({ sinceMs }: DueRow) => sinceMs <= nowMs - GRACE_MS
    const late = { actions: action.due.filter(isLate), sessions: session.due.filter(isLate) }
    const found = await dispatch.reconcile({ actions: late.actions.filter(hasJob).map(idOf), sessions: late.sessions.map(idOf) })
    enqueued += found.enqueued
    unlocked += found.unlocked
    if (found.enqueued > 0) {
      log.warn({ count: found.enqueued }, 'resync.enqueued')
    }
    const unattended = { actions: new Set(found.unattended.actions), sessions: new Set(found.unattended.sessions) }
    const isOverdue = ({ sinceMs }: DueRow) => Math.max(sinceMs, unableMs) <= nowMs - OVERDUE_MS
    const isUnattended = ({ id, isInGrace }: DueActionRow) =>
      !work.isGivenUp(id) && (isInGrace || unattended.actions.has(id) || work.startingSinceMs(id) !== undefined)
    // The turn of an action that waited for a slot came with the slot.
    const sinceItsTurn = ({ id, sinceMs }: DueActionRow) => ({ id, sinceMs: Math.max(sinceMs, work.startingSinceMs(id) ?? 0) })
    actions.note({
      due: action.due,
      unattended: late.actions.filter(isUnattended).map(sinceItsTurn),
      isOverdue,
      isLast: action.next === '',
      tell: ({ id, sinceMs }) => log.error({ actionId: id, waitedMs: nowMs - sinceMs }, 'action.overdue'),
    })
    sessions.note({
      due: session.due,
      unattended: late.sessions.filter(({ id }) => unattended.sessions.has(id)),
      isOverdue,
      isLast: session.next === '',
      tell: ({ id, sinceMs }) => log.error({ sessionId: id, waitedMs: nowMs - sinceMs }, 'session.overdue'),
    })
    nextAction = action.next
    nextSession = session.next
  }

  function forgetOverdue(): void {
    actions.clear()
    sessions.clear()
    nextAction = ''
    nextSession = ''
  }

  function schedule(work: ReconcilerWork): void {
    if (isStopped) return
    takeBack = after(actions.count + sessions.count > 0 ? LOOK_AGAIN_MS : LOOK_MS, () => {
      // After a hold, what it delayed has the time that it needs to begin.
      if (work.isHeld()) forgetOverdue()
      if (!work.isAble()) unableMs = readNowMs()
      const looked = work.isAble() && !work.isHeld() ? look(work) : Promise.resolve()
      const ended = looked.catch((error) => work.log.warn({ error }, 'resync.failed')).then(() => schedule(work))
      work.dispatch.background(ended)
    })
  }

  return {
    get overdue() {
      return { actions: actions.count, sessions: sessions.count, oldestSinceMs: actions.oldestSinceMs }
    },
    get enqueued() {
      return enqueued
    },
    get unlocked() {
      return unlocked
    },
    start: schedule,
    stop() {
      isStopped = true
      takeBack()
    },
  }
}

const idOf = ({ id }: DueRow) => id
const hasJob = ({ isInGrace }: DueActionRow) => !isInGrace
