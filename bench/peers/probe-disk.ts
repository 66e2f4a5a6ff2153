import { basename } from 'node:path'
import { runOn } from '../../verification/testing/postgres.ts'
import type { Place } from './adapter.ts'
import type { Places } from './places.ts'
import type { Probe } from './report.ts'
import { answerStart, messageFor } from './script.ts'
import { canTrace, syncedFiles, traceFiles } from './sync-trace.ts'
import type { Worker } from './worker.ts'

type OpenWorker = () => Promise<Worker>
type Room = Omit<Place, 'effect'>

/** Whether what waits is on disk, with fsync, when `start` resolves. */
export const probeDisk = (open: OpenWorker, room: Room, places: Places): Promise<Probe> =>
  room.database === 'postgres' ? probePostgres(open, room, places) : probeFiles(open, room)

/**
 * Kills the database server at the pause. A commit that does not wait for the disk is still in the server's memory then, and lost; one that
 * waits was written and synced, as the server's settings say.
 */
async function probePostgres(open: OpenWorker, room: Room, places: Places): Promise<Probe> {
  const [settings] = await runOn(room.url, `select current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit`)
  const first = await open()
  // Everything is connected and prepared when the session that counts begins.
  await first.start(messageFor('disk0', 1))
  const { sessionId } = await first.start(messageFor('disk1', 1))
  await places.crashPostgres()
  await first.kill()
  const second = await open()
  try {
    await second.decide(sessionId, { 'disk1-1': 'approve' })
    const answer = await second.finish(sessionId)
    const isThere = answer.startsWith(answerStart(1))
    const seen = `Postgres was killed (-9) at the pause and started again: the session ${isThere ? 'still waited, and finished' : 'was lost'}`
    const sentence = `${seen} (fsync ${settings?.fsync}, synchronous_commit ${settings?.commit}).`
    return { verdict: isThere ? 'yes' : 'no', sentence }
  } finally {
    await second.close()
  }
}

/** Watches the system's own files: what is written of the session has to be synced. */
async function probeFiles(open: OpenWorker, { folder }: Room): Promise<Probe> {
  if (!canTrace()) return { verdict: 'not determined', sentence: 'strace is not installed here.' }
  const worker = await open()
  try {
    // The first session opens files and prepares statements.
    await worker.start(messageFor('disk0', 1))
    const tag = `disk${Date.now()}`
    let pausedMs = 0
    const calls = await traceFiles({ pids: worker.pids, folder, tag }, async () => {
      pausedMs = (await worker.start(messageFor(tag, 1))).atMs
    })
    return judge(syncedFiles(calls, pausedMs))
  } finally {
    await worker.close()
  }
}

function judge({ synced, unsynced }: ReturnType<typeof syncedFiles>): Probe {
  const named = (paths: readonly string[]): string => {
    const names = [...new Set(paths.map((path) => basename(path)))]
    return names.length > 3 ? `${names.length} files (${names[0]} and others)` : names.join(', ')
  }
  if (synced.length + unsynced.length === 0) {
    return { verdict: 'no', sentence: 'Nothing of the session was written to a file before the pause was reported (strace).' }
  }
  if (unsynced.length > 0) {
    return { verdict: 'no', sentence: `Written and not synced when the pause was reported: ${named(unsynced)} (strace).` }
  }
  const sentence = `Every write of the session to ${named(synced)} was followed by an fsync before the pause was reported (strace).`
  return { verdict: 'yes', sentence }
}
