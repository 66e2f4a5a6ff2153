// One of the server processes of a Postgres benchmark: opens the engine, says so, makes its share of the cycles, and tells their times.
import { once } from 'node:events'
import { runCycles } from './cycles.ts'
import { openBench } from './engine.ts'

const { url, inFlight, cycles, warmUp } = JSON.parse(process.argv[2] ?? '{}')
const bench = await openBench(url)
await runCycles(bench, 1, warmUp)
process.send?.('ready')
await once(process, 'message')
process.send?.(await runCycles(bench, inFlight, cycles))
await once(process, 'message')
await bench.close()
process.disconnect?.()
