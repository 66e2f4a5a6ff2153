// The server of the benchmark over HTTP, in a process of its own. It also runs cycles on its own engine, without HTTP.
import { runCycles } from './cycles.ts'
import { cpuMs, startDesk } from './desk.ts'
import { person } from './engine.ts'

export type Order = { do: 'cycles'; inFlight: number; cycles: number } | { do: 'cpu' } | { do: 'end' }

const server = await startDesk(JSON.parse(process.argv[2] ?? '{}'))
await server.engine.savePrincipal(person)

async function carryOut(order: Order): Promise<unknown> {
  switch (order.do) {
    case 'cycles': {
      const begin = performance.now()
      const times = await runCycles({ engine: server.engine }, order.inFlight, order.cycles)
      return { seconds: (performance.now() - begin) / 1000, cycleMs: times.map(({ cycleMs }) => cycleMs) }
    }
    case 'cpu':
      return cpuMs()
    case 'end':
      await server.close()
      return null
  }
}
process.on('message', async (order: Order) => {
  process.send?.(await carryOut(order))
  if (order.do === 'end') process.disconnect?.()
})
process.once('disconnect', () => process.exit())
process.send?.(server.url)
