// A program behind the gate in a process of its own, to be killed: `process.ts FRAMEWORK`. It tells its parent what it does.
import { argv } from 'node:process'
import { effects } from './effects.ts'
import { type Framework, runAfter } from './run-after.ts'

const tell = (word: string) => new Promise<void>((resolve) => process.send?.(word, () => resolve()))

effects.heard = () => tell('ran')
await runAfter[argv[2] as Framework]()
await tell('ended')
process.disconnect?.()
