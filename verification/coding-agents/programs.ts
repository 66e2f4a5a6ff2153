import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

const MODULES = new URL('../../scripts/coding-agents/node_modules/', import.meta.url)

/** The path of an installed file. @throws Error */
export const installed = (path: string): string => {
  const file = fileURLToPath(new URL(path, MODULES))
  if (!existsSync(file)) throw new Error(`${path} is not there: npm run test:agents installs what these tests drive`)
  return file
}

/** The version that is installed. */
export const versionOf = (name: string): string => JSON.parse(readFileSync(installed(`${name}/package.json`), 'utf8')).version

/** The program of Claude Code; its package copies it with an install script, which is not run. */
export const CLAUDE = () => installed(`@anthropic-ai/claude-code-${process.platform}-${process.arch}/claude`)
export const OPENCODE = () => installed(`opencode-${process.platform}-${process.arch}/bin/opencode`)
export const CODEX = () => installed('@openai/codex/bin/codex.js')
export const GEMINI = () => installed('@google/gemini-cli/bundle/gemini.js')
export const COPILOT = () => installed(`@github/copilot-${process.platform}-${process.arch}/copilot`)

/** The environment of Claude Code with a model at `url`: no account, no updates, a home of its own. */
export const claudeEnvironment = (home: string, url: string): Record<string, string> => ({
  HOME: home,
  PATH: process.env.PATH ?? '',
  TERM: 'xterm-256color',
  ANTHROPIC_BASE_URL: url,
  ANTHROPIC_API_KEY: 'sk-ant-not-a-key-of-anybody',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_AUTOUPDATER: '1',
})

export interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

/** A program that runs, and how it ended. */
export interface Running {
  child: ChildProcess
  ended: Promise<Ended>
  /** Kills it and all that it has started, as a machine that goes down does. */
  kill(): void
}

export function run(command: string, args: readonly string[], options: { cwd: string; env: Record<string, string> }): Running {
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  const code = new Promise<number | null>((resolve) => child.on('close', resolve))
  const ended = Promise.all([code, text(child.stdout), text(child.stderr)]).then(([at, stdout, stderr]) => ({ code: at, stdout, stderr }))
  return { child, ended, kill: () => killWhole(child) }
}

interface Started {
  pid: number
  command: string
}

/** Kills the hooks that a program has started, and nothing else. @returns How many. */
export function killHooksOf({ child }: Running): number {
  const hooks = startedBy(child).filter(({ command }) => command.includes(' hook '))
  for (const { pid } of hooks) process.kill(pid, 'SIGKILL')
  return hooks.length
}

/** Kills a program and all that it has started, as a machine that goes down does. */
export function killWhole(child: ChildProcess): void {
  const started = startedBy(child)
  child.kill('SIGKILL')
  for (const { pid } of started) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It ended with the program.
    }
  }
}

/** The processes that a program has started, and those that they have. */
function startedBy(child: ChildProcess): Started[] {
  const all = readdirSync('/proc').flatMap((pid) => {
    try {
      const parent = Number(/^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
      return [{ pid: Number(pid), parent, command: readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ') }]
    } catch {
      // No process, or one that has just ended.
      return []
    }
  })
  const below = (parent: number): typeof all => all.filter((one) => one.parent === parent).flatMap((one) => [one, ...below(one.pid)])
  return below(child.pid ?? 0)
}
