import { openFaultProxy, throughProxy } from '../packages/server/src/testing/fault-proxy.ts'
import { createDatabase, startPostgres } from '../packages/server/src/testing/postgres.ts'
import { runCycles } from './cycles.ts'
import { openBench } from './engine.ts'

await using c = await startPostgres({})
const url = await createDatabase(c.url('postgres'))
await using proxy = await openFaultProxy({ host: '127.0.0.1', port: c.port })
let packets = 0
proxy.onRequest = () => {
  packets++
  return 'pass'
}
const bench = await openBench(throughProxy(url, proxy))
for (const n of [1]) {
  await runCycles(bench, n, 60)
  packets = 0
  await runCycles(bench, n, 200)
  console.log(n, 'packets per cycle', packets / 200)
}
await bench.close()
