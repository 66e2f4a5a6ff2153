import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'

// The program ends with this process, even by SIGKILL: the other end of standard input closes then.
const GUARDED = '"$@" </dev/null >&2 & program=$!; echo $program; read -r _; kill -9 $program; wait $program'

const READY_TRIES = 300

/**
 * For a server on Vercel's Workflow, a setting of its documentation: how long a step counts as running after its process was killed. The
 * default, 860 s, is longer than a probe waits for the session to continue.
 */
export const WORKFLOW_LEASE = { WORKFLOW_INLINE_OWNERSHIP_LEASE_SECONDS: '20' }

/** A server program of a peer, which ends with this process. */
export interface GuardedServer {
  readonly pid: number
  stop(): Promise<void>
}

const areReady = async (urls: readonly string[]): Promise<boolean> => {
  const answers = await Promise.all(urls.map((url) => fetch(url).catch(() => undefined)))
  return answers.every((answer) => answer?.ok === true)
}

async function waitUntilReady(child: ChildProcess, urls: readonly string[]): Promise<void> {
  for (let tries = 0; !(await areReady(urls)); tries++) {
    if (child.exitCode !== null || tries === READY_TRIES) throw new Error('the server did not become ready')
    await setTimeout(100)
  }
}

/** Starts a server program and waits until its health URLs answer. */
export async function startGuarded(
  command: readonly string[],
  { cwd, env = {}, health }: { cwd: string; env?: Record<string, string>; health: readonly string[] },
): Promise<GuardedServer> {
  const child = spawn('sh', ['-c', GUARDED, 'sh', ...command], { cwd, env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
  await waitUntilReady(child, health)
  const stop = async () => {
    child.stdin.end()
    await ended
  }
  return { pid: Number(line), stop }
}
