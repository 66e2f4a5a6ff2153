import type { Logger } from 'pino'
import type { Clock } from '../clock.ts'
import { retention, type Store } from '../store/index.ts'

/** Soon after the start, but not in the middle of it. */
const FIRST_AFTER_MS = 60_000
/** Rows that are kept for a day may stay a few minutes longer. A round that finds nothing costs ten queries. */
const EVERY_MS = 10 * 60_000

interface RetentionOptions {
  store: Store
  clock: Clock
  log: Logger
  /** How long rows are kept. Default: as documented. */
  limits?: Partial<retention.RetentionLimits>
  /** The lifetime of a console session. */
  sessionLimits: { idleMs: number; maxMs: number }
}

/**
 * Deletes rows that are no longer needed, a minute after the start and then every ten minutes, in small transactions. Several processes on
 * one database take turns. Disposal stops it after the current batch.
 */
export function startRetention({ store, clock, log, limits, sessionLimits }: RetentionOptions): AsyncDisposable {
  const owners: Record<string, retention.DeleteBatch> = {
    once: retention.deleteAnswers,
    'once of actions': retention.deleteAnswersOfActions,
    gateway_call: retention.deleteGatewayCalls,
    model_call: retention.deleteModelCalls,
    used_sign_in: retention.deleteUsedSignIns,
    console_session: retention.deleteConsoleSessions(sessionLimits),
    embed_token: retention.deleteEmbedTokens,
    policy_difference: retention.deletePolicyDifferences,
    snooze: retention.deleteSnoozes,
    webhook_delivery: retention.deleteDeliveries,
    jobs: retention.deleteFailedJobs,
  }
  let isStopped = false
  let inFlight = Promise.resolve()
  let stopWaiting = wait(FIRST_AFTER_MS)

  function wait(delayMs: number): () => void {
    return clock.after(delayMs, () => {
      inFlight = deleteAll().then(() => {
        if (!isStopped) stopWaiting = wait(EVERY_MS)
        log.debug({}, 'retention.round_ended')
      })
    })
  }

  async function deleteAll(): Promise<void> {
    for (const [rows, deleteBatch] of Object.entries(owners)) {
      try {
        const deleted = await deleteRows(deleteBatch)
        if (deleted > 0) log.info({ rows, deleted }, 'retention.deleted')
      } catch (error) {
        // The next round finds the same rows.
        log.warn({ error, rows }, 'retention.failed')
      }
    }
  }

  async function deleteRows(deleteBatch: retention.DeleteBatch): Promise<number> {
    let total = 0
    while (!isStopped) {
      const { deleted, isFull } = await store.transact(() => deleteBatch(clock.nowMs(), { ...retention.DEFAULT_RETENTION, ...limits }))
      total += deleted
      if (!isFull) break
    }
    return total
  }

  return {
    async [Symbol.asyncDispose]() {
      isStopped = true
      stopWaiting()
      await inFlight
    },
  }
}
