/** Stops at once on a second signal: a person who presses Ctrl-C twice does not want to wait for the drain. */
export async function runUntilStopped(close: () => Promise<void>, say: (line: string) => void): Promise<void> {
  const { promise: stopped, resolve } = Promise.withResolvers<void>()
  let isStopping = false
  const onSignal = () => {
    if (isStopping) process.exit(130)
    isStopping = true
    say('Stopping: what is under way is finished or kept for the next start. Press Ctrl-C again to stop at once.')
    resolve()
  }
  process.on('SIGINT', onSignal)
  process.on('SIGTERM', onSignal)
  await stopped
  await close()
  process.off('SIGINT', onSignal)
  process.off('SIGTERM', onSignal)
}
