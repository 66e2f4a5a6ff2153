// An agent in a process of its own, to be killed: `gate-agent-process.ts FRAMEWORK`. It writes what it does to standard output, one word a line.
import { argv, env, stdout } from 'node:process'
import { createClient } from '../../packages/client/src/index.ts'
import { FRAMEWORKS } from './gate-frameworks.ts'

const run = FRAMEWORKS[argv[2] as keyof typeof FRAMEWORKS]
const client = createClient({ baseUrl: env.URL ?? '', key: env.KEY ?? '' })
const say = (word: string) => new Promise<void>((resolve) => stdout.write(`${word}\n`, () => resolve()))

const heard = await run(
  client,
  {
    readOrder: async ({ order }) => ({ order, status: 'pending' }),
    async setStatus({ status }) {
      await say('ran')
      // Until it is killed: what comes after the effect is what a crash takes away.
      if (env.HANGS === '1') await new Promise<never>(() => setInterval(() => undefined, 60_000))
      return { done: status }
    },
  },
  [{ id: 'call_1', name: 'setStatus', args: { order: 'ORD-1', status: 'shipped' } }],
  { run: 'conv-1' },
)
await say(`heard ${JSON.stringify(heard.call_1)}`)
