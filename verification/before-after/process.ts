// A program behind the gate in a process of its own, to be killed: `process.ts FRAMEWORK`. It writes what it does, one word a line.
import { argv, stdout } from 'node:process'
import { type Framework, runAfter } from './run-after.ts'

const say = (word: string) => new Promise<void>((resolve) => stdout.write(`${word}\n`, () => resolve()))

await runAfter[argv[2] as Framework]({
  async setStatus({ status }) {
    await say('ran')
    return { done: status }
  },
})
await say('ended')
