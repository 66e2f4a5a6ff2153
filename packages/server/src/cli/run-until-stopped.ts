import { letNewSpaceGrow } from '../new-space.js'
import { complain } from './say.ts'

/**
 * Stops at once on a second signal: a person who presses Ctrl-C twice does not want to wait for the drain. A closed terminal stops it in
 * order, too; the kernel and the shell may both say so, so that a second SIGHUP is no hurry.
 */
export async function runUntilStopped(close: () => Promise<void>, say: (line: string) => void): Promise<void> {
  letNewSpaceGrow()
  const { promise: stopped, resolve } = Promise.withResolvers<void>()
  let isStopping = false
  const onSignal = (signal: NodeJS.Signals) => {
    if (isStopping && signal !== 'SIGHUP') process.exit(130)
    if (isStopping) return
    isStopping = true
    say('Stopping: what is under way is finished or kept for the next start. Press Ctrl-C again to stop at once.')
    resolve()
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal)
  await stopped
  try {
    await close()
  } catch (error) {
    complain(`it did not stop in order: ${error instanceof Error ? error.message : error}`)
    process.exit(1)
  }
  // The handles of a closed terminal, and the connections to a database that does not answer, would keep the process alive.
  process.exit()
}
