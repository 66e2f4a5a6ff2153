import { text } from 'node:stream/consumers'
import type { JsonObject } from '@countersign/core'
import { isObject } from '@countersign/core/text'
import { Command } from 'commander'
import { CANARY_TOOL, HOOK_HOSTS, HOST_NAMES, type HookHost } from '../coding-agent/hosts.ts'
import type { Environment } from '../config/index.ts'
import { HOOK_SHAPES, type HookEvent } from '../hooks/shapes/index.ts'
import { type ApiFlags, serverOf, Unreachable, withServerAddress } from './api.ts'
import { askUntilAnswered } from './connect/ask-until-answered.ts'
import { postHook } from './connect/post-hook.ts'

interface HookFlags extends ApiFlags {
  limit: string
  park?: 'defer'
}

const HELP = `
It reads the message of a hook on standard input, asks the server, and prints the answer in the words of the host. It is written into the
settings of a host by countersign connect.

While the server is away, for example during a restart, the hook tries again for half a minute, but not beyond --limit. A question that the
server had received is still there when it starts. If the server stays away, the call is denied. Give the host a longer limit than --limit:
when a hook takes too long, Gemini CLI, GitHub Copilot CLI and Claude Code with an allow rule run the call by themselves.

The key is that of an agent: COUNTERSIGN_KEY in the environment, or a file that holds it.

Exit code: 0 with an answer. 2 when there is none, because of a message, an option or a failure, which these hosts take for a denial.`

/** `countersign hook`: one command for the hooks of every host. */
export const hookCommand = (environment: Environment): Command =>
  withServerAddress(new Command('hook'))
    .description('answer the hook of a coding agent: standard input to the server, its answer to standard output')
    .argument('<host>', HOOK_HOSTS.join(', '))
    .argument('[event]', 'the event, for a host that does not send it')
    .option('--limit <seconds>', 'how long people may take', '550')
    .option('--park <how>', 'defer: at the end of that time a headless Claude Code stops, and asks again when it is resumed')
    .addHelpText('after', HELP)
    .action(async (host: string, event: string | undefined, flags: HookFlags) => {
      const message = readMessage(host, event, await text(process.stdin))
      // A report goes on: a host that ends does not wait for it.
      if ('event' in message && message.event.kind === 'ask') endWithParent()
      const answer = await runHook(message, event, flags, environment)
      if ('failed' in answer) {
        process.stderr.write(`${answer.failed}\n`)
        process.exitCode = 2
      } else process.stdout.write(`${JSON.stringify(answer.output)}\n`)
    })

/** A host that gives up ends what it started: where that is a shell, nothing else tells this process that nobody waits any more. */
function endWithParent(): void {
  const parent = process.ppid
  setInterval(() => process.ppid === parent || process.exit(2), PARENT_EVERY_MS).unref()
}

const PARENT_EVERY_MS = 500

/** Returns the name as that of a host. @throws Error that lists them. */
export function readHost(name: string): HookHost {
  const host = HOOK_HOSTS.find((one) => one === name)
  if (host) return host
  throw new Error(`there is no host ${name}; known are ${HOOK_HOSTS.map((one) => `${one} (${HOST_NAMES[one]})`).join(', ')}`)
}

async function runHook(
  read: ReadMessage,
  named: string | undefined,
  flags: HookFlags,
  environment: Environment,
): Promise<{ output: JsonObject } | { failed: string }> {
  if ('failed' in read) return read
  const { host, body, event } = read
  try {
    const askSeconds = secondsOf(flags.limit)
    const limitSeconds = event.kind === 'ask' ? askSeconds : Math.min(askSeconds, REPORT_SECONDS)
    const server = serverOf(flags, environment)
    const endsAtMs = performance.now() + limitSeconds * 1_000
    const ask = () => {
      const leftSeconds = Math.max(Math.ceil((endsAtMs - performance.now()) / 1_000), 1)
      const query = new URLSearchParams({
        limit: String(leftSeconds),
        again: 'true',
        ...(named && { event: named }),
        ...(flags.park && { park: flags.park }),
      })
      return postHook({ server, path: `/hooks/${host}?${query}`, body, withinMs: (leftSeconds + GRACE_SECONDS) * 1_000 })
    }
    const output = isAskedOnce(event) ? await ask() : await askUntilAnswered(ask, { signal: AbortSignal.timeout(limitSeconds * 1_000) })
    return { output }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    process.stderr.write(`countersign: ${why}\n`)
    // A report that is lost only leaves its outcome unknown.
    if (event.kind !== 'ask') return { output: {} }
    const reason = `Not allowed: Countersign could not be asked (${why}). Nothing was run. Ask the person to ${error instanceof Unreachable ? 'start it' : 'correct that'}, and do not try another way.`
    return { output: HOOK_SHAPES[host].answer(event.event, { kind: 'deny', reason }) }
  }
}

/** A canary shows how it is now, and a host that ends does not wait. */
const isAskedOnce = (event: HookEvent): boolean =>
  event.kind === 'ended' || event.kind === 'ignored' || (event.kind === 'ask' && event.call.tool === CANARY_TOOL)

/** A report has less time than the 30 seconds that its host gives it. */
const REPORT_SECONDS = 10
/** After its limit the server answers by itself; the rest is for the way. */
const GRACE_SECONDS = 5

type ReadMessage = { host: HookHost; body: JsonObject; event: HookEvent } | { failed: string }

function readMessage(name: string, named: string | undefined, input: string): ReadMessage {
  try {
    const host = readHost(name)
    const body: unknown = JSON.parse(input)
    if (!isObject(body)) throw new Error('it is no JSON object')
    return { host, body, event: HOOK_SHAPES[host].read(body, named) }
  } catch (error) {
    return {
      failed: `countersign: this message of a hook cannot be read, so its call is denied: ${error instanceof Error ? error.message : error}`,
    }
  }
}

/** Returns a number of seconds. @throws Error */
export function secondsOf(limit: string): number {
  if (/^\d{1,5}$/.test(limit) && Number(limit) > 0) return Number(limit)
  throw new Error(`--limit: must be a number of seconds, not "${limit}"`)
}
