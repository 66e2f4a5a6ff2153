import { setTimeout as delay } from 'node:timers/promises'
import { Command } from 'commander'
import type { Environment } from '../../config/index.ts'
import { type ApiFlags, serverOf, withServerAddress } from '../api.ts'
import { postHook } from '../connect/post-hook.ts'
import { secondsOf } from '../hook.ts'
import { complain, say } from '../say.ts'
import { createBridge } from './bridge.ts'
import { createOpencodeApi, opencodeAddress } from './opencode-api.ts'

interface OpencodeFlags extends ApiFlags {
  limit: string
}

const HELP = `
It listens to opencode serve (http://127.0.0.1:4096 by default), for the folder that opencode was started in. Every permission that opencode
asks for is a card, and opencode shows its prompt as well: the first answer counts. A call that policy denies, or that the server cannot be
asked about, is rejected. Set "permission": { "bash": "ask", "edit": "ask" } in opencode.json: only what opencode asks about is seen.

The key is that of an agent: COUNTERSIGN_KEY in the environment, or a file that holds it. OPENCODE_SERVER_PASSWORD is that of opencode.

Stop it with Ctrl + C. While it does not run, opencode asks in its own prompt only.

Exit code: 0 when it was stopped, 1 when it could not start.`

/** After its limit the server answers by itself; the rest is for the way. */
const GRACE_SECONDS = 5
const REPORT_SECONDS = 30
const RETRY_MS = 2_000

/** `countersign opencode`: asks about the permissions that a running opencode waits for. */
export const opencodeCommand = (environment: Environment): Command =>
  withServerAddress(new Command('opencode'))
    .description('ask about the permissions of a running opencode server')
    .argument('[address]', 'where opencode serve listens', 'http://127.0.0.1:4096')
    .option('--limit <seconds>', 'how long people may take before a call is rejected', '3600')
    .addHelpText('after', HELP)
    .action((address: string, flags: OpencodeFlags) => runOpencode(opencodeAddress(address, environment), flags, environment))

async function runOpencode(base: string, flags: OpencodeFlags, environment: Environment): Promise<void> {
  const server = serverOf(flags, environment)
  const limitSeconds = secondsOf(flags.limit)
  const opencode = createOpencodeApi(base, environment)
  const bridge = createBridge({
    opencode,
    complain,
    post: (body, signal) =>
      postHook({
        server,
        path: `/hooks/opencode?limit=${limitSeconds}&again=true`,
        body,
        // Only the question can be dropped.
        withinMs: (signal ? limitSeconds + GRACE_SECONDS : REPORT_SECONDS) * 1_000,
        ...(signal && { signal }),
      }),
  })
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
  let said = ''
  while (!stop.signal.aborted) {
    try {
      const events = await opencode.events(stop.signal)
      said = ''
      say(`Asking Countersign about the permissions of opencode at ${base}.`, process.stderr)
      await bridge.catchUp()
      for await (const event of events) bridge.take(event)
      complain(`opencode at ${base} closed the connection`)
    } catch (error) {
      const words = error instanceof Error ? error.message : String(error)
      // Opencode may start again, or later. The reason is said once.
      if (!stop.signal.aborted && words !== said) complain(`${words}; trying again`)
      said = words
    }
    await delay(RETRY_MS, undefined, { signal: stop.signal }).catch(() => undefined)
  }
  await bridge.end()
}
