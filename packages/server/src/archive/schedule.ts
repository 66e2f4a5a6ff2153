import type { Logger } from 'pino'
import { recordAudit, SYSTEM } from '../audit/index.ts'
import type { Clock } from '../clock.ts'
import { ArchiveInProgress, type Database, openForArchive, type Store, settings } from '../store/index.ts'
import { type FinishedFile, runArchive } from './run-archive.ts'

/** Soon after the start, but not in the middle of it. */
const FIRST_AFTER_MS = 60_000
/** How late a round may be, and how long after a crash in the middle of a round the next process resumes it. */
const LOOK_EVERY_MS = 10 * 60_000
/** Epoch ms of the last round that was completed, by any process. */
const LAST_ROUND = 'archive.last_round'

/** The times in the configuration. */
export interface ArchiveSchedule {
  olderThanMs: number
  everyMs: number
}

interface ArchiveScheduleOptions extends ArchiveSchedule {
  store: Store
  /** Where the embedded store is: the archive works beside the server, under the same lock as the command. */
  database: Database
  folder: string
  clock: Clock
  log: Logger
  /** Why nothing may be changed at the moment; undefined while it may. */
  trouble(): string | undefined
}

/**
 * Archives rows that were settled `olderThanMs` ago, every `everyMs`: once for all processes on a database, and counted across restarts.
 * The next process repeats a round that a killed process left. Each round is logged as `archive.finished` or `archive.failed`, or as
 * `archive.postponed` while another one is running; one that wrote files has a row `archived` in the record. Disposal ends it after the
 * current file.
 */
export function startArchiveSchedule(options: ArchiveScheduleOptions): AsyncDisposable {
  const { clock, log, everyMs } = options
  const stopping = new AbortController()
  let inFlight = Promise.resolve()
  let stopWaiting = wait(FIRST_AFTER_MS)

  function wait(delayMs: number): () => void {
    return clock.after(delayMs, () => {
      inFlight = makeRound(options, stopping.signal)
        // The next round finds the same sessions.
        .catch((error: unknown) => log.error({ error }, 'archive.failed'))
        .then(() => {
          if (!stopping.signal.aborted) stopWaiting = wait(Math.min(LOOK_EVERY_MS, everyMs))
          log.debug({}, 'archive.checked')
        })
    })
  }

  return {
    async [Symbol.asyncDispose]() {
      stopping.abort()
      stopWaiting()
      await inFlight
    },
  }
}

async function makeRound(options: ArchiveScheduleOptions, signal: AbortSignal): Promise<void> {
  const { store, database, folder, clock, log, olderThanMs, everyMs, trouble } = options
  async function isDue(): Promise<boolean> {
    const [last, nowMs] = [await lastRound(store), clock.nowMs()]
    // A last round in the future was stored while a clock was ahead, so it counts as none. Up to one
    // interval is tolerated, because the clocks of several processes differ.
    return nowMs >= last + everyMs || last > nowMs + everyMs
  }
  if (trouble() !== undefined || !(await isDue())) return
  const beside = await openForArchive(database).catch((error: unknown) => {
    if (!(error instanceof ArchiveInProgress)) throw error
    log.info({ error }, 'archive.postponed')
  })
  if (!beside) return
  const startedMs = clock.nowMs()
  const before = startedMs - olderThanMs
  try {
    // The previous holder of the lock may have done it.
    if (!(await isDue())) return
    const files = await runArchive({ store: beside, folder, before, nowMs: clock.nowMs, onFile: () => undefined, signal })
    if (signal.aborted) return
    const done = { ...totalsOf(files), settledBefore: new Date(before).toISOString() }
    await store.transact(function* (outbox) {
      yield* settings.saveSetting.run({ name: LAST_ROUND, value: String(startedMs) })
      if (files.length > 0) yield* recordAudit(outbox, { kind: 'archived', actor: SYSTEM, data: { ...done, folder } }, clock.nowMs())
    })
    log.info({ ...done, ms: clock.nowMs() - startedMs }, 'archive.finished')
  } finally {
    await beside.close()
  }
}

async function lastRound(store: Store): Promise<number> {
  const found = await store.read(() => settings.findSetting.first({ name: LAST_ROUND }))
  return found ? Number(found.value) : 0
}

function totalsOf(files: readonly FinishedFile[]) {
  const sum = (of: (file: FinishedFile) => number) => files.reduce((total, file) => total + of(file), 0)
  return { files: files.map(({ name }) => name), sessions: sum(({ sessions }) => sessions), rows: sum(({ rows }) => rows) }
}
