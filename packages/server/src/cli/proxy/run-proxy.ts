import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import type { Environment } from '../../config/index.ts'
import { type ApiFlags, serverOf } from '../api.ts'
import { postHook } from '../connect/post-hook.ts'
import { secondsOf } from '../hook.ts'
import { complain } from '../say.ts'
import type { Dialect } from './dialect.ts'
import { openProxy } from './proxy.ts'

export interface ProxyFlags extends ApiFlags {
  limit: string
}

export interface RunProxy {
  /** The command that starts the agent. */
  command: readonly string[]
  flags: ProxyFlags
  environment: Environment
  dialect: Dialect
}

/** After its limit the server answers by itself; the rest is for the way. */
const GRACE_SECONDS = 5

/** Starts the agent and stands between it and the program that started this one. Exits as the agent does. */
export async function runProxy({ command, flags, environment, dialect }: RunProxy): Promise<void> {
  const [program = '', ...args] = command
  const server = serverOf(flags, environment)
  const limitSeconds = secondsOf(flags.limit)
  const { COUNTERSIGN_KEY: _key, COUNTERSIGN_KEY_FILE: _file, ...others } = environment
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'], env: others })
  const exited = once(child, 'exit')
  await once(child, 'spawn').catch((cause: unknown) => {
    throw new Error(`${program} could not be started: ${cause instanceof Error ? cause.message : cause}`, { cause })
  })
  const endSoon = (signal: NodeJS.Signals) => {
    child.kill(signal)
    setTimeout(() => child.kill('SIGKILL'), AGENT_END_MS).unref()
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => endSoon(signal))
  // Either side may be gone while something is written to it.
  child.stdin.on('error', () => undefined)
  process.stdout.on('error', () => child.stdin.end())
  const proxy = openProxy(
    { editor: { from: process.stdin, to: process.stdout }, agent: { from: child.stdout, to: child.stdin } },
    {
      dialect,
      complain,
      post: (body, signal) =>
        postHook({
          server,
          path: `/hooks/${dialect.host}?limit=${limitSeconds}&again=true`,
          body,
          // Only the question can be dropped.
          withinMs: (signal ? limitSeconds + GRACE_SECONDS : REPORT_SECONDS) * 1_000,
          ...(signal && { signal }),
        }),
    },
  )
  void proxy.editorEnded
    .catch(() => undefined)
    .then(() => {
      child.stdin.end()
      setTimeout(() => endSoon('SIGTERM'), AGENT_END_MS).unref()
    })
  const [code, signal]: [number | null, NodeJS.Signals | null] = await exited.then(([code, signal]) => [code, signal])
  // A program that the agent left running holds its output open, and no answer reaches the agent any more.
  const cutOff = setTimeout(() => child.stdout.destroy(), AGENT_END_MS)
  await proxy.agentEnded.catch(() => undefined)
  clearTimeout(cutOff)
  await proxy.end()
  process.exit(code ?? 128 + (signal ? constants.signals[signal] : 0))
}

/** An agent whose editor is gone has so long to end by itself. */
const AGENT_END_MS = 5_000
/** A message that nobody waits for takes no longer. */
const REPORT_SECONDS = 30
