import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import { Command } from 'commander'
import type { Environment } from '../../config/index.ts'
import { type ApiFlags, serverOf, withServerAddress } from '../api.ts'
import { postHook } from '../connect/post-hook.ts'
import { secondsOf } from '../hook.ts'
import { complain } from '../say.ts'
import { openProxy } from './proxy.ts'

interface AcpFlags extends ApiFlags {
  limit: string
}

const HELP = `
An editor starts it in the place of the agent: countersign acp -- npx @agentclientprotocol/claude-agent-acp. Messages pass unchanged. When the
agent asks for permission, the editor shows its prompt, and a card waits in Countersign: the first answer counts, and the other prompt
closes. A call that policy denies, or that the server cannot be asked about, is refused.

The key is that of an agent: COUNTERSIGN_KEY in the environment, or a file that holds it. The agent does not get it.

Exit code: that of the agent. 1 when it cannot be started.`

/** After its limit the server answers by itself; the rest is for the way. */
const GRACE_SECONDS = 5

/** `countersign acp -- agent`: stands between an editor and an agent that speak the Agent Client Protocol. */
export const acpCommand = (environment: Environment): Command =>
  withServerAddress(new Command('acp'))
    .description('stand between an editor and its agent (Agent Client Protocol): permissions are asked in both places')
    .argument('<agent...>', 'the command that starts the agent, after --')
    .option('--limit <seconds>', 'how long people may take before a call is refused', '3600')
    .addHelpText('after', HELP)
    .action((agent: string[], flags: AcpFlags) => runAcp(agent, flags, environment))

async function runAcp([program = '', ...args]: string[], flags: AcpFlags, environment: Environment): Promise<void> {
  const server = serverOf(flags, environment)
  const limitSeconds = secondsOf(flags.limit)
  const { COUNTERSIGN_KEY: _key, COUNTERSIGN_KEY_FILE: _file, ...rest } = environment
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'], env: rest })
  const ended = once(child, 'close')
  await once(child, 'spawn').catch((cause: unknown) => {
    throw new Error(`${program} could not be started: ${cause instanceof Error ? cause.message : cause}`, { cause })
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal))
  // Either side may be gone while something is written to it.
  child.stdin.on('error', () => undefined)
  process.stdout.on('error', () => child.stdin.end())
  const proxy = openProxy(
    { editor: { from: process.stdin, to: process.stdout }, agent: { from: child.stdout, to: child.stdin } },
    {
      complain,
      post: (body, signal) =>
        postHook({
          server,
          path: `/hooks/acp?limit=${limitSeconds}`,
          body,
          withinMs: (body.event === 'ask' ? limitSeconds + GRACE_SECONDS : REPORT_SECONDS) * 1_000,
          ...(signal && { signal }),
        }),
    },
  )
  void proxy.editorEnded
    .catch(() => undefined)
    .then(() => {
      child.stdin.end()
      setTimeout(() => child.kill(), AGENT_END_MS).unref()
    })
  const [code, signal]: [number | null, NodeJS.Signals | null] = await ended.then(([code, signal]) => [code, signal])
  await proxy.agentEnded.catch(() => undefined)
  await proxy.end()
  process.exit(code ?? 128 + (signal ? constants.signals[signal] : 0))
}

/** An agent whose editor is gone has so long to end by itself. */
const AGENT_END_MS = 5_000
/** A message that nobody waits for takes no longer. */
const REPORT_SECONDS = 30
