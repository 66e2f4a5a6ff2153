/**
 * Returns how long this thread has computed so far, in milliseconds. Its difference is what a piece of work costs, however long other programs
 * kept it waiting for a processor.
 */
export function cpuTimeMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}
