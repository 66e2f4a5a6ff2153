import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** A server in a process of its own, which answers one message at a time. */
export interface ForkedServer<M> {
  url: string
  ask(message: M): Promise<unknown>
  /** Sends the message that ends the process, and resolves when it has ended. */
  end(message: M): Promise<void>
}

/**
 * Starts a script of this folder in a process of its own. The script sends the address of its server first, then one answer per message.
 * @param flags More flags for Node.
 */
export async function forkServer<M extends object>(
  script: string,
  scriptArguments: readonly string[],
  flags: readonly string[] = [],
): Promise<ForkedServer<M>> {
  const child = fork(fileURLToPath(new URL(script, import.meta.url)), scriptArguments, {
    execArgv: ['--conditions=countersign-source', '--disable-warning=ExperimentalWarning', ...flags],
  })
  const [url] = (await once(child, 'message')) as [string]
  return {
    url,
    async ask(message) {
      child.send(message)
      return (await once(child, 'message'))[0]
    },
    async end(message) {
      child.send(message)
      await once(child, 'exit')
    },
  }
}
