import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openBench, person } from './engine.ts'

/** Bytes of the database per gated cycle, after a checkpoint: the growth over `cycles` cycles. */
export async function benchBytes(cycles: number) {
  const bench = await openBench()
  const caller = { principal: person }
  const sizeNow = async () => {
    const db = new DatabaseSync(join(bench.dataDir, 'countersign.db'), { timeout: 5_000 })
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    db.close()
    let bytes = 0
    for (const file of await readdir(bench.dataDir)) bytes += (await stat(join(bench.dataDir, file))).size
    return bytes
  }
  const run = async (count: number) => {
    for (let i = 0; i < count; i++) {
      const { id } = await bench.engine.agentLoop.createSession({}, caller)
      const asked = Promise.withResolvers<string>()
      const stop = await bench.engine.hub.onSession(id, ({ event }) => {
        if (event.type === 'action_proposed') asked.resolve(event.data.proposal.id)
      })
      await bench.engine.agentLoop.postMessage(id, 'mark ORD-001 as processing', caller)
      await bench.engine.gate.decide(await asked.promise, { verdict: 'approve' }, caller)
      await bench.engine.idle()
      stop()
    }
  }
  await run(50)
  const before = await sizeNow()
  await run(cycles)
  const after = await sizeNow()
  await bench.close()
  return { n: cycles, bytesPerCycle: Math.round((after - before) / cycles) }
}
