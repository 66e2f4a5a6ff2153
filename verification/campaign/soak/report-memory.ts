// Loaded before a server (`node --expose-gc --import`). Answers each message with what the process holds after a garbage collection.
import { monitorEventLoopDelay } from 'node:perf_hooks'

/** A server process's report about itself. */
export interface ProcessReport {
  rssBytes: number
  heapBytes: number
  /** Timers, sockets and other resources that keep the process alive. */
  resources: number
  /** Since the last report, without the collection that the report itself needs. */
  loopDelayP99Ms: number
}

const delay = monitorEventLoopDelay({ resolution: 20 })
delay.enable()

process.on('message', () => {
  const loopDelayP99Ms = Math.round(delay.percentile(99) / 1e4) / 100
  // Twice: what a finalizer lets go of is collected the second time.
  globalThis.gc?.()
  globalThis.gc?.()
  const { rss, heapUsed } = process.memoryUsage()
  const resources = process.getActiveResourcesInfo().length
  process.send?.({ rssBytes: rss, heapBytes: heapUsed, resources, loopDelayP99Ms } satisfies ProcessReport)
  delay.reset()
})
process.channel?.unref()
// No server outlives the campaign.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
