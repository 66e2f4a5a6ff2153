import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/** Below those that the system gives to connections and to port 0: such a one could be taken before the server of a test listens there, or while it is down. */
const FIRST = 15_000
/** Each worker of a test run has ports of its own. */
const PER_WORKER = 1_000
const WORKERS = 17

const worker = Number(process.env.TEST_PARALLEL_INDEX ?? process.env.VITEST_POOL_ID ?? process.pid) % WORKERS
let next = randomInt(PER_WORKER)

/** A port of the loopback interface that nobody listens at now, and that this process is told once. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + worker * PER_WORKER + (next++ % PER_WORKER)
    const probe = createServer()
    const isFree = await new Promise<boolean>((resolve) => {
      probe.once('error', () => resolve(false))
      probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
    })
    if (isFree) return port
  }
}
