import { isCountersignError } from '@countersign/core'
import { checkpoint } from '@countersign/toolkit/internal'
import { type ActionRow, actions, attempts, type Tx } from '../../store/index.ts'
import { openSession } from '../context.ts'
import { recordCause } from '../events.ts'
import type { GateDeps } from '../gate.ts'
import type { Lost } from './attempt.ts'
import { retryUntilStored, untilItWorks } from './retry.ts'
import { runAttempt } from './run-attempt.ts'
import { findHeld } from './start-attempt.ts'

const PAGE = 100

const lostTo = (what: string): Lost => ({
  to: 'lost',
  kind: 'ambiguous',
  message: `${what} while this was being carried out.`,
  atOnce: true,
})
const STOPPED: Lost = { ...lostTo('The server stopped'), processEnded: true }
const CUT_OFF = lostTo('The database went away')

/**
 * Takes over the attempts of processes that are gone, and finds out their outcomes: see `reconcile`. Several processes may do it at once:
 * each attempt is taken by compare-and-set on its epoch, and a late result of its first owner is stale.
 * @param gone The processes. Without them, every attempt that is not of this process, for a database that one process owns; approved
 * actions that have not started are then enqueued as well (elsewhere their jobs do that).
 * @returns When every attempt has a new owner. Finding out the outcomes continues in the background.
 */
export async function recover(deps: GateDeps, gone?: readonly string[]): Promise<void> {
  checkpoint('recover.begin')
  const lost = gone
    ? gone.map((runner) => [attempts.executingOf, runner] as const)
    : [[attempts.executingOfOthers, deps.processId] as const]
  const taken: ActionRow[] = []
  for (const [find, runner] of lost) {
    for await (const rows of pagesOf(deps, (after) => find.all({ runner, after, limit: PAGE }))) {
      taken.push(...(await Promise.all(rows.map((row) => takeOver(deps, row)))).filter((row) => row !== undefined))
    }
  }
  checkpoint('recover.taken_over')
  for (const row of taken) deps.background(deps.limiter.run(row.tool, () => runAttempt(deps, row, STOPPED)))
  if (!gone) await enqueueApproved(deps)
}

async function enqueueApproved({ store }: GateDeps): Promise<void> {
  for (let after: string | undefined = ''; after !== undefined; ) {
    const from: string = after
    after = await store.transact(function* (outbox) {
      const rows = yield* attempts.approvedAfter.all({ after: from, limit: PAGE })
      for (const { id } of rows) outbox.actions.add(id)
      return rows.at(-1)?.id
    })
  }
  checkpoint('recover.put_up')
}

async function* pagesOf<R extends { id: string }>({ store }: GateDeps, read: (after: string) => Tx<R[]>): AsyncGenerator<R[]> {
  for (let after = ''; ; ) {
    const rows = await store.read(() => read(after))
    const last = rows.at(-1)
    if (!last) return
    yield rows
    after = last.id
  }
}

async function takeOver(deps: GateDeps, row: ActionRow): Promise<ActionRow | undefined> {
  const { id, epoch } = row
  const runner = deps.processId
  return retryUntilStored(deps, id, function* (outbox, isRepeat) {
    const context = yield* openSession({ outbox, nowMs: deps.clock.nowMs(), caller: undefined }, row)
    const taken = yield* attempts.takeOverAction(row, { epoch: epoch + 1, runner }, { epoch })
    if (!taken) return isRepeat ? yield* findHeld(id, runner, epoch + 1) : undefined
    yield* recordCause(context, taken, { kind: 'taken_over', data: { from: row.runner } })
    if (context.session) yield* context.session.save()
    return taken
  })
}

/**
 * Continues with an attempt that this process may have begun without knowing it, because the answer of the commit was lost. The outcome is
 * found out as after a crash, even if nothing was sent: another request of this process may have begun it too.
 */
export async function adoptOwn(deps: GateDeps, actionId: string): Promise<void> {
  const row = await untilItWorks(deps, actionId, () => deps.store.read(() => actions.findAction.first({ id: actionId })))
  if (row?.state !== 'executing' || row.runner !== deps.processId) return
  const taken = await takeOver(deps, row)
  if (taken) await runAttempt(deps, taken, CUT_OFF)
}

/** Waits for a transaction that begins an attempt. When the database went away, what was begun nevertheless is taken up. */
export async function orAdopt<T>(deps: GateDeps, actionId: string, begun: Promise<T>): Promise<T> {
  try {
    return await begun
  } catch (error) {
    const isRefusal = isCountersignError(error) && error.status < 500
    if (!isRefusal) deps.background(adoptOwn(deps, actionId))
    throw error
  }
}
