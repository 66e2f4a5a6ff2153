import type { Clock } from '../../clock.ts'
import { type Store, writesOfOthers } from '../../store/index.ts'

/** SQLite does not notify of commits by other processes, so one number is polled this often for all open connections. */
const LOOK_EVERY_MS = 400

export interface SqliteChangePoll {
  store: Store
  clock: Clock
  /** Called when another process has written to the database file. */
  changed(): void
}

/**
 * Watches an SQLite database for commits of other processes: the commands that may run beside its server. Returns a function that stops it.
 */
export function pollSqliteChanges({ store, clock, changed }: SqliteChangePoll): () => void {
  let known: number | undefined
  let isStopped = false
  let stopWaiting = () => {}

  async function look(): Promise<void> {
    // After a failed read, a change cannot be ruled out.
    const found = await store.read(writesOfOthers).catch(() => undefined)
    if (isStopped) return
    if (known !== undefined && found !== known) changed()
    known = found ?? known
    stopWaiting = clock.after(LOOK_EVERY_MS, look)
  }
  void look()

  return () => {
    isStopped = true
    stopWaiting()
  }
}
