import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readTargets, type TargetEntry } from './targets-file.ts'

const TARGETS = fileURLToPath(new URL('./targets.ts', import.meta.url))

/** The services behind the tools, in a process of their own that outlives every server. */
export interface Targets extends AsyncDisposable {
  readonly url: string
  /** All that happened there. */
  read(): TargetEntry[]
  /** Hears of every entry when it is written; one listener at a time. */
  listen(hear: (entry: TargetEntry) => void): void
  /** False: writes that are held are let go, and those that arrive from now on are answered at once, whatever their name says. Default true. */
  setHolding(isHolding: boolean): void
}

/** Starts them on a file in `folder`. */
export async function startTargets(folder: string): Promise<Targets> {
  const file = join(folder, 'targets.jsonl')
  const execArgv = ['--conditions=countersign-source', '--disable-warning=ExperimentalWarning']
  const child = fork(TARGETS, [file], { execArgv, stdio: 'inherit' })
  const [{ port }] = await once(child, 'message')
  let heard: (entry: TargetEntry) => void = () => {}
  child.on('message', (entry) => heard(entry as TargetEntry))
  return {
    url: `http://127.0.0.1:${port}`,
    read: () => readTargets(file),
    listen(hear) {
      heard = hear
    },
    setHolding: (isHolding) => void child.send({ isHolding }),
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'exit')
      child.disconnect()
      await ended
    },
  }
}
