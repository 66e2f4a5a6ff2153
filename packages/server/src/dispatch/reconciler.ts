import type { Logger } from 'pino'
import type { Clock } from '../clock.ts'
import { type DueRow, dueWork, type Store, together } from '../store/index.ts'
import type { Dispatch } from './dispatch.ts'
import { createOverdue, type Overdue } from './overdue.ts'

/** How often what is due is compared with what is under way. */
const LOOK_MS = 3_000
/** The same while something is overdue, so that it is told soon when that ends. */
const LOOK_AGAIN_MS = 1_000
/** What became due within this time is about to be begun. */
const GRACE_MS = 2_000
/** What has not begun this long after its turn is an alarm. */
const OVERDUE_MS = 10_000

export interface ReconcilerWork {
  store: Store
  dispatch: Dispatch
  log: Logger
  /** How many actions of one session are carried out at once. */
  executionsPerSession: number
  /** True for an action that was begun here and cannot be started so far. */
  isRetried(actionId: string): boolean
  /** True for an action whose start was given up: it was told, and does not count any more. */
  isGivenUp(actionId: string): boolean
  /** False while the database does not answer: then nothing is compared. */
  isAble(): boolean
}

/**
 * Compares every few seconds what the rows call for with what is under way, puts up again what is missing, and raises an alarm about what
 * has not begun 10 seconds after its turn. The rows are the truth; whatever was to tell of them may get lost.
 */
export interface Reconciler {
  readonly overdue: Overdue
  /** Sessions and actions that had no job and got one, since this process started. */
  readonly putUp: number
  /** Jobs whose fetch answer was lost and that were unlocked, since this process started. */
  readonly unlocked: number
  start(work: ReconcilerWork): void
  /** Compares nothing more. */
  stop(): void
}

/** @param clock What is late goes by its time. @param after Calls back after a while of this machine. */
export function createReconciler({ nowMs: readNowMs }: Pick<Clock, 'nowMs'>, after: Clock['after']): Reconciler {
  const actions = createOverdue()
  const sessions = createOverdue()
  let putUp = 0
  let unlocked = 0
  let nextAction = ''
  let nextSession = ''
  let isStopped = false
  let takeBack = () => {}

  async function look({ store, dispatch, log, executionsPerSession, ...work }: ReconcilerWork): Promise<void> {
    const [action, session] = await store.read(() =>
      together(dueWork.dueActions(nextAction, executionsPerSession), dueWork.dueSessions(nextSession)),
    )
    const nowMs = readNowMs()
    const isLate = ({ sinceMs }: DueRow) => sinceMs <= nowMs - GRACE_MS
    const late = { actions: action.due.filter(isLate), sessions: session.due.filter(isLate) }
    const found = await dispatch.reconcile({ actions: late.actions.map(idOf), sessions: late.sessions.map(idOf) })
    putUp += found.putUp
    unlocked += found.unlocked
    if (found.putUp > 0) {
      log.warn({ count: found.putUp }, 'resync.enqueued')
    }
    const unattended = { actions: new Set(found.unattended.actions), sessions: new Set(found.unattended.sessions) }
    const isOverdue = ({ sinceMs }: DueRow) => sinceMs <= nowMs - OVERDUE_MS
    actions.note({
      due: action.due,
      late: late.actions.filter(
        (row) => isOverdue(row) && !work.isGivenUp(row.id) && (unattended.actions.has(row.id) || work.isRetried(row.id)),
      ),
      isLast: action.next === '',
      tell: ({ id, sinceMs }) => log.error({ actionId: id, waitedMs: nowMs - sinceMs }, 'action.overdue'),
    })
    sessions.note({
      due: session.due,
      late: late.sessions.filter((row) => isOverdue(row) && unattended.sessions.has(row.id)),
      isLast: session.next === '',
      tell: ({ id, sinceMs }) => log.error({ sessionId: id, waitedMs: nowMs - sinceMs }, 'session.overdue'),
    })
    nextAction = action.next
    nextSession = session.next
  }

  function schedule(work: ReconcilerWork): void {
    if (isStopped) return
    takeBack = after(actions.count + sessions.count > 0 ? LOOK_AGAIN_MS : LOOK_MS, () => {
      const looked = work.isAble() ? look(work) : Promise.resolve()
      const ended = looked.catch((error) => work.log.warn({ error }, 'resync.failed')).then(() => schedule(work))
      work.dispatch.background(ended)
    })
  }

  return {
    get overdue() {
      return { actions: actions.count, sessions: sessions.count, oldestSinceMs: actions.oldestSinceMs }
    },
    get putUp() {
      return putUp
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
