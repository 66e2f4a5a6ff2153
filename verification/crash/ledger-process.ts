import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type LedgerEntry, readLedger } from './ledger-file.ts'

const LEDGER = fileURLToPath(new URL('./ledger.ts', import.meta.url))

/** The service behind the tools, in a process of its own. */
export interface Ledger extends AsyncDisposable {
  readonly url: string
  /** All that happened there. */
  read(): LedgerEntry[]
}

/** Starts the ledger on a file in `folder`. */
export async function startLedger(folder: string): Promise<Ledger> {
  const file = join(folder, 'ledger.jsonl')
  const child = fork(LEDGER, [file], { execArgv: ['--disable-warning=ExperimentalWarning'], stdio: 'inherit' })
  const [port] = await once(child, 'message')
  return {
    url: `http://127.0.0.1:${port}`,
    read: () => readLedger(file),
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'exit')
      child.disconnect()
      await ended
    },
  }
}
