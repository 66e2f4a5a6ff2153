import { letNewSpaceGrow } from '../new-space.js'

/**
 * Stops at once on a second signal: a person who presses Ctrl-C twice does not want to wait for the drain. A closed terminal stops it in
 * order, too; the kernel and the shell may both say so, so that a second SIGHUP is no hurry.
 */
export async function runUntilStopped(close: () => Promise<void>, say: (line: string) => void): Promise<void> {
  letNewSpaceGrow()
  const { promise: stopped, resolve } = Promise.withResolvers<void>()
  let isStopping = false
  let isTerminalClosed = false
  const onSignal = (signal: NodeJS.Signals) => {
    if (signal === 'SIGHUP') isTerminalClosed = true
    if (isStopping && signal !== 'SIGHUP') process.exit(130)
    if (isStopping) return
    isStopping = true
    say('Stopping: what is under way is finished or kept for the next start. Press Ctrl-C again to stop at once.')
    resolve()
  }
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const signal of signals) process.on(signal, onSignal)
  await stopped
  await close()
  for (const signal of signals) process.off(signal, onSignal)
  // Node does not release its handles of a closed terminal, and they would keep the process alive.
  if (isTerminalClosed) process.exit()
}
