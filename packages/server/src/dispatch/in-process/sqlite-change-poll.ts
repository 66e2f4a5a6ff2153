import type { Clock } from '../../clock.ts'
import { type Store, writesOfOthers } from '../../store/index.ts'

/** SQLite tells nobody that a command beside the server has written. One number is read this often for all who have something open. */
const LOOK_EVERY_MS = 400

export interface SqliteChangePoll {
  store: Store
  clock: Clock
  /** Called when somebody else has written to the database file. */
  changed(): void
}

/** Watches an SQLite database for commits of other processes: the commands that may run beside its server. Answers what ends that. */
export function pollSqliteChanges({ store, clock, changed }: SqliteChangePoll): () => void {
  let known: number | undefined
  let isStopped = false
  let stopWaiting = () => {}

  async function look(): Promise<void> {
    // Who cannot read it has no reason to believe that nothing changed.
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
