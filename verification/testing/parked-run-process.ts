// A run in a process of its own that its framework stops: `parked-run-process.ts FRAMEWORK FILE`. The first start stores the run in the file
// and ends, every further one goes on with it. It writes what it does to standard output, one word a line.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { argv, env } from 'node:process'
import { createClient } from '../../packages/client/src/index.ts'
import { PARKINGS } from './parked-runs.ts'

const [, , framework, file = ''] = argv
const parking = PARKINGS[framework as keyof typeof PARKINGS]
const run = {
  client: createClient({ baseUrl: env.URL ?? '', key: env.KEY ?? '' }),
  work: {
    readOrder: async ({ order }: { order: string }) => ({ order, status: 'pending' }),
    async setStatus({ status }: { status: string }) {
      console.log('ran')
      return { done: status }
    },
  },
  options: { run: 'conv-1' },
}

if (existsSync(file)) {
  const { told } = await parking.resume(run, readFileSync(file, 'utf8'), 'wait')
  console.log(`heard ${told?.call_1}`)
} else {
  const { saved = '' } = await parking.start(run, [{ id: 'call_1', name: 'setStatus', args: { order: 'ORD-1', status: 'shipped' } }])
  // A look proposes the call, where starting did not.
  writeFileSync(file, (await parking.resume(run, saved, 'look')).saved ?? '')
  console.log('stored')
}
